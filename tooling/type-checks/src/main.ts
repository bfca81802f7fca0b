import { findCompilers } from "./find-compilers.js";
import { measureChecks } from "./measure-checks.js";
import { type Options, readOptions, usage } from "./options.js";

/** What a queue of 500 kinds may cost beside an empty one. */
const barSeconds = 2;

const options = readArguments();
if (options !== undefined) await bench(options);

async function bench({ kinds, rounds, also }: Options): Promise<void> {
  const compilers = await findCompilers(also);
  console.log(`| TypeScript | payloads | empty queue | ${kinds} kinds | difference |`);
  console.log("|---|---|---|---|---|");
  for (const style of ["types", "schemas"] as const) {
    for (const { version, emptySeconds, fullSeconds } of await measureChecks(compilers, { kinds, rounds, style })) {
      const more = fullSeconds - emptySeconds;
      console.log(`| ${version} | ${style} | ${emptySeconds.toFixed(2)} s | ${fullSeconds.toFixed(2)} s | ${more.toFixed(2)} s |`);
      if (more < barSeconds) continue;
      console.error(`TypeScript ${version} takes ${more.toFixed(2)} s more for ${kinds} kinds by ${style}; it may take ${barSeconds} s.`);
      process.exitCode = 1;
    }
  }
}

function readArguments(): Options | undefined {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exitCode = 2;
    return undefined;
  }
}
