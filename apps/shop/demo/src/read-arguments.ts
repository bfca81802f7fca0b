import { parseArgs } from "node:util";

export interface DemoArguments {
  /** Place some orders, wait until all is settled, and end. */
  readonly isOnce: boolean;
  readonly isHelp: boolean;
  readonly databaseUrl: string | undefined;
  readonly port: number;
}

export const usage = `npm run demo              the shop, until Ctrl-C
npm run demo -- --once    40 orders, and a summary when all is settled

DATABASE_URL  a PostgreSQL to use instead of the one inside the process
PORT          where the page is (default: any free port)`;

/** @throws TypeError for an argument that it does not know, RangeError for a port that is none */
export function readArguments(argv: readonly string[], env: Readonly<Record<string, string | undefined>>): DemoArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: { once: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    strict: true,
  });
  const port = env["PORT"] || "0";
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw new RangeError(`PORT must be a number from 0 to 65535, but is ${JSON.stringify(port)}.`);
  return { isOnce: values.once ?? false, isHelp: values.help ?? false, databaseUrl: env["DATABASE_URL"] || undefined, port: Number(port) };
}
