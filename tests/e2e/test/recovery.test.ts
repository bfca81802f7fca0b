import { Kysely, PostgresDialect } from "kysely";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { queue } from "../src/run-worker.js";
import { WorkerProcess } from "../src/worker-process.js";

const database = useTestDatabase();
const leaseMs = 1_000;
const sweepMs = 250;
const long = 60_000;

let db: Kysely<unknown>;
const processes: WorkerProcess[] = [];
beforeAll(async () => {
  db = new Kysely({ dialect: new PostgresDialect({ pool: database.pool }) });
  await database.pool.query("create table ledger (job_id bigint not null)");
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((one) => one.end("SIGKILL")));
  await database.pool.query("truncate queue.jobs");
});

async function start(graceMs?: number): Promise<WorkerProcess> {
  const started = await WorkerProcess.start(database.url, graceMs);
  processes.push(started);
  return started;
}

function enqueueWork(count: number, ms: number): Promise<{ id: string }[]> {
  return queue.enqueueMany(
    db,
    Array.from({ length: count }, () => ({ kind: "work" as const, payload: { ms } })),
  );
}

async function rows<T>(text: string): Promise<T[]> {
  return (await database.pool.query(text)).rows as T[];
}

describe("a worker that is killed", () => {
  it("loses its jobs to another within the lease and a sweep, and they count one attempt more", async () => {
    const victim = await start();
    await enqueueWork(5, long);
    await victim.until("start", 5);
    const heir = await start();
    const killedAt = performance.now();
    await victim.end("SIGKILL");
    await heir.until("start", 5);
    // A second beyond the promise for what the machine is doing besides.
    expect(performance.now() - killedAt).toBeLessThan(leaseMs + sweepMs + 1_000 + 1_000);
    expect(heir.starts().map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2, 2]);
  });

  it("B101: commits a transactional handler's writes exactly once, at whatever moment it dies", { timeout: 120_000 }, async () => {
    const count = 60;
    await queue.enqueueMany(
      db,
      Array.from({ length: count }, (_, n) => ({ kind: "ledger" as const, payload: { ms: n % 25 } })),
    );
    for (;;) {
      const worker = await start();
      // Dies in the middle of some completion, wherever that is.
      const [{ open } = { open: "0" }] = await rows<{ open: string }>("select count(*) as open from queue.jobs");
      if (open === "0") break;
      await worker.end("SIGKILL");
      const victim = await start();
      const target = Math.max(0, Number(open) - 5);
      while (Number((await rows<{ open: string }>("select count(*) as open from queue.jobs"))[0]?.open) > target);
      await victim.end("SIGKILL");
    }
    expect(await rows("select count(*) as entries, count(distinct job_id) as jobs from ledger")).toEqual([
      { entries: String(count), jobs: String(count) },
    ]);
    expect(await rows("select distinct status from queue.all_jobs where kind = 'ledger'")).toEqual([{ status: "done" }]);
  });

  it("B41: by its own job, is killed exactly maxAttempts times, and what waits behind is done", async () => {
    const { id } = await queue.enqueue(db, "deadly", null, { priority: 0 });
    await enqueueWork(10, 0);
    let starts = 0;
    for (let deaths = 0; deaths < 3; deaths++) {
      const worker = await start();
      expect(await worker.exited()).toBe(null);
      starts += worker.starts().filter((said) => said.id === id).length;
    }
    const survivor = await start();
    while ((await rows("select from queue.jobs where status <> 'dead'")).length > 0);
    expect(starts).toBe(3);
    expect(survivor.starts().some((said) => said.id === id)).toBe(false);
    expect(await rows(`select status, attempts, last_error from queue.all_jobs where id = ${id}`)).toEqual([
      { status: "dead", attempts: 3, last_error: expect.stringContaining("lease") as string },
    ]);
  });
});

describe("a worker that is frozen past its lease", () => {
  it("B38: loses the job to another, and what it writes after it wakes up changes nothing", async () => {
    const frozen = await start();
    const [job] = await enqueueWork(1, 1_500);
    await frozen.until("start", 1);
    frozen.child.kill("SIGSTOP");
    const other = await start();
    await other.until("end", 1);
    while ((await rows("select from queue.jobs")).length > 0);
    const before = await rows(`select status, attempts, worker, finished_at from queue.all_jobs where id = ${job?.id}`);
    frozen.child.kill("SIGCONT");
    await frozen.until("end", 1);
    expect(await frozen.end("SIGTERM")).toBe(0);
    expect(before).toEqual([expect.objectContaining({ status: "done", attempts: 2 })]);
    expect(await rows(`select status, attempts, worker, finished_at from queue.all_jobs where id = ${job?.id}`)).toEqual(before);
  });
});

describe("a worker that gets SIGTERM", () => {
  it("B91: finishes what runs, starts nothing more, and exits with 0", async () => {
    const worker = await start();
    await enqueueWork(10, 500);
    await worker.until("start", 10);
    await enqueueWork(20, 500);
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(worker.starts()).toHaveLength(10);
    expect(await rows("select status, attempts, count(*)::int from queue.jobs group by 1, 2")).toEqual([
      { status: "queued", attempts: 0, count: 20 },
    ]);
  });

  it("B92: gives back at once what outlasts the grace, and says so by its exit code", async () => {
    const stubborn = await start(300);
    await enqueueWork(2, long);
    await stubborn.until("start", 2);
    const heir = await start();
    expect(await stubborn.end("SIGTERM")).toBe(1);
    await heir.until("start", 2);
    expect(heir.starts().map(({ attempt }) => attempt)).toEqual([2, 2]);
  });
});
