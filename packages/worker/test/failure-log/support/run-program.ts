import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The worker of a process of its own, from the built packages; `handler` is its code. */
export const program = (handler: string, head = "") => `
  import { createRequire } from "node:module";
  import { createQueue, job, PermanentError } from "@queue/core";
  import { createWorker } from "@queue/worker";
  import { Kysely, PostgresDialect } from "kysely";
  import pg from "pg";
  const require = createRequire(import.meta.url);
  ${head}
  const pool = new pg.Pool({ connectionString: process.env.TEST_URL });
  const queue = createQueue({ jobs: { works: job({ maxAttempts: 3, backoff: { base: 1, cap: 1 } }) } });
  const worker = createWorker({
    queue, db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
    lease: 500, heartbeat: 100, sweepInterval: 100, pollInterval: 50,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    handlers: { works: async (job, ctx) => { ${handler} } },
  });
  await worker.runUntilIdle();
  await pool.end();
`;

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** Runs `text` as a module of this package. */
export function runProgram(text: string, url: string): Promise<Ended> {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    cwd: fileURLToPath(new URL("../../..", import.meta.url)),
    env: { ...process.env, TEST_URL: url },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, output })));
}
