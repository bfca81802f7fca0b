import { type Connection, type ConnectionOptions, openConnection } from "../connect/open-connection.js";
import { describeFailure } from "../output/describe-failure.js";
import { createOutput, type Output } from "../output/output.js";

export interface CommonOptions extends ConnectionOptions {
  readonly json?: boolean | undefined;
}

/** What a command works with. */
export interface CommandContext extends Connection {
  readonly output: Output;
}

/** Runs a command on its database; an error becomes one sentence and an exit code. `run` may resolve to an exit code. */
export async function runCommand(options: CommonOptions, run: (context: CommandContext) => Promise<number | void>): Promise<void> {
  const output = createOutput(options);
  let connection: Connection | undefined;
  try {
    connection = await openConnection(options);
    process.exitCode = (await run({ ...connection, output })) ?? 0;
  } catch (error) {
    fail(output, error);
  } finally {
    await connection?.close().catch(() => {}); // it failed, and that was said
  }
}

/** The same for a command that needs no database. */
export async function runOffline(options: CommonOptions, run: (output: Output) => Promise<void>): Promise<void> {
  const output = createOutput(options);
  try {
    await run(output);
  } catch (error) {
    fail(output, error);
  }
}

function fail(output: Output, error: unknown): void {
  const { code, message, exitCode } = describeFailure(error);
  process.exitCode = exitCode;
  if (output.isJson) output.note(JSON.stringify({ error: { code, message } }));
  else output.note(`${output.colors.red("queue:")} ${message}${code === "FAILED" || code === "USAGE" ? "" : ` (${code})`}`);
}
