import { type DemoArguments, readArguments, usage } from "./read-arguments.js";
import { runDemo } from "./run-demo.js";
import { stopSignal } from "./stop-signal.js";

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  let args: DemoArguments;
  try {
    args = readArguments(argv, process.env);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (args.isHelp) {
    console.log(usage);
    return 0;
  }
  try {
    return await runDemo(args, stopSignal());
  } catch (error) {
    // A server that is not there and a port that is taken say so in a line; anything else needs its stack.
    console.error(error instanceof Error && "syscall" in error ? error.message : error);
    return 1;
  }
}
