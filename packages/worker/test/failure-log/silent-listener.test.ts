import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { openTcpProxy } from "../support/tcp-proxy.js";
import { until } from "../support/until.js";
import { useWorkers } from "../support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job() } });

describe("B19: a listener's connection that falls silent without an error", () => {
  const script = `
    import { createQueue, job } from "@queue/core";
    import { pgListener } from "@queue/pg";
    import { createWorker } from "@queue/worker";
    import { Kysely, PostgresDialect } from "kysely";
    import pg from "pg";
    const pool = new pg.Pool({ connectionString: process.env.DIRECT_URL });
    const worker = createWorker({
      queue: createQueue({ jobs: { works: job() } }),
      db: new Kysely({ dialect: new PostgresDialect({ pool }) }),
      listener: pgListener({ connectionString: process.env.PROXY_URL, keepAlive: "500ms", application_name: "half-open" }),
      pollInterval: "1s",
      onEvent: ({ type, error }) => console.log(type + (error === undefined ? "" : ": " + error.message)),
      handlers: { works: () => {} },
    });
    await worker.run();
    await pool.end();
  `;

  test("delays a job by one poll at most, is told once, and is made anew: then jobs start at once again", async () => {
    const proxy = await openTcpProxy(workers.database.url);
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: fileURLToPath(new URL("../../../pg", import.meta.url)),
      env: { ...process.env, DIRECT_URL: workers.database.url, PROXY_URL: proxy.url },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ended;
      await proxy.close();
    });
    let told = "";
    child.stdout.on("data", (data: Buffer) => (told += data.toString()));
    const count = (type: string) => told.split("\n").filter((line) => line.startsWith(type)).length;

    await until(() => count("worker.started") === 1, "the worker's start");
    // Everything that the server says from now on, whatever it is.
    proxy.holdAnswersFrom("");
    await queue.enqueue(workers.db, "works", null);
    await until(() => count("job.completed") === 1, "the job, by the poll", 5_000);
    await proxy.untilHeld();
    proxy.holdAnswersFrom("\u0000never said\u0000");
    await until(() => count("worker.listening") === 2, "another LISTEN", 20_000);
    await queue.enqueue(workers.db, "works", null);
    await until(() => count("job.completed") === 2, "the job, by its notification", 5_000);
    expect(count("worker.error")).toBe(1);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
