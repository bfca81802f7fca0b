import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAdminStatements } from "../src/store/admin-statements.js";
import { about } from "./support/close-to.js";
import { explain, looksAt } from "./support/explain.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>() } });
let db: Kysely<object>;
let admin: ReturnType<typeof queue.admin>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  admin = queue.admin(db);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.lanes, queue.workers, queue.jobs_archive");
});

const register = (name: string, kinds: string, lanes: string | null = null, expiresInMs = 60_000) =>
  worker.run(worker.statements.registerWorker, { worker: name, kinds, lanes, host: "h", pid: 1, expiresInMs });

describe("health", () => {
  test("of an empty queue is empty", async () => {
    expect(await admin.health()).toMatchObject({ lanes: [], deadTuples: expect.any(Number), kindsWithoutWorker: [] });
  });

  test("shows the dead of every lane, also beside one that has more than it counts", async () => {
    await database.pool.query(`insert into queue.jobs (kind, lane, status)
      select 'a', 'full', 'dead'::queue.job_status from generate_series(1, 10001) union all select 'a', 'zz', 'dead'`);
    const { lanes } = await admin.health();
    expect(lanes.map(({ lane, dead, isCapped }) => [lane, dead, isCapped])).toEqual([
      ["full", 10_000, true],
      ["zz", 1, false],
    ]);
  });

  test("counts each lane by state, over all priorities", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 12 }, (_, n) => ({ kind: "a", payload: n, options: { lane: "mail", priority: n % 2 === 0 ? 1 : 8 } })),
    );
    await queue.enqueue(db, "b", 1, { lane: "other", delay: "1h" });
    await database.pool.query(`
      update queue.jobs set run_at = run_at + interval '1 day' where payload::int in (0, 1) and lane = 'mail';
      update queue.jobs set status = 'dead' where payload::int in (2, 3, 4) and lane = 'mail';
      update queue.jobs set status = 'waiting' where payload::int = 5;
      update queue.jobs set status = 'running', locked_until = now() + interval '1 minute' where payload::int in (6, 7);
      update queue.jobs set status = 'running', locked_until = now() - interval '1 minute' where payload::int = 8;
      update queue.jobs set run_at = now() - interval '90 seconds' where payload::int = 9`);
    await admin.pause("other");
    await admin.pause("never used");
    const { lanes } = await admin.health();
    const none = { ready: 0, scheduled: 0, waiting: 0, running: 0, dead: 0, oldestReadyMs: null, expiredLeases: 0, isCapped: false };
    expect(lanes).toEqual([
      {
        ...none,
        lane: "mail",
        ready: 3,
        scheduled: 2,
        waiting: 1,
        running: 3,
        dead: 3,
        expiredLeases: 1,
        paused: false,
        oldestReadyMs: expect.any(Number),
      },
      { ...none, lane: "never used", paused: true },
      { ...none, lane: "other", scheduled: 1, paused: true },
    ]);
    expect(lanes[0]?.oldestReadyMs).toBeGreaterThanOrEqual(90_000);
    expect(lanes[0]?.oldestReadyMs).toBeLessThan(120_000);
  });

  test("stops counting at 10,000 a line, and says so", async () => {
    await database.pool.query("insert into queue.jobs (kind, lane) select 'a', 'big' from generate_series(1, 10500)");
    await database.pool.query("insert into queue.jobs (kind, lane) select 'a', 'small' from generate_series(1, 9999)");
    const { lanes } = await admin.health();
    expect(lanes).toMatchObject([
      { lane: "big", ready: 10_000, isCapped: true },
      { lane: "small", ready: 9_999, isCapped: false },
    ]);
  });

  test("names who keeps vacuum from its work, and for how long", async () => {
    await using holder = await openSession(database.url, { application_name: "nightly report" });
    await holder.query("begin isolation level repeatable read");
    await holder.query("select count(*) from queue.jobs");
    const { oldestSnapshot } = await admin.health();
    expect(oldestSnapshot).toEqual({ ageMs: expect.any(Number), pid: holder.pid, application: "nightly report" });
    expect(oldestSnapshot?.ageMs).toBeGreaterThanOrEqual(0);
    await holder.query("commit");
    expect((await admin.health()).oldestSnapshot?.pid).not.toBe(holder.pid);
  });

  test("names the kinds that wait and that no live worker has a handler for, in its lane", async () => {
    await queue.enqueue(db, "a", 1);
    await queue.enqueue(db, "b", 1, { lane: "special" });
    expect((await admin.health()).kindsWithoutWorker).toEqual(["a", "b"]);
    await register("w1", "{a,b}", '{"default"}');
    expect((await admin.health()).kindsWithoutWorker).toEqual(["b"]);
    await register("w2", "{b}", null, -1);
    expect((await admin.health()).kindsWithoutWorker).toEqual(["b"]);
    await register("w3", "{b}", "{special}");
    expect((await admin.health()).kindsWithoutWorker).toEqual([]);
    // A worker that has not said that it lives is forgotten by the next one that does.
    const { rows } = await database.pool.query("select id from queue.workers order by id");
    expect(rows).toEqual([{ id: "w1" }, { id: "w3" }]);
    await worker.run(worker.statements.forgetWorker, { worker: "w3" });
    expect((await admin.health()).kindsWithoutWorker).toEqual(["b"]);
  });

  test("never reads what has ended (B126)", async () => {
    await using session = await openSession(database.url);
    const statements = createAdminStatements("queue");
    for (const plan of [
      await explain(session, statements.readLanes, { cap: 10_000 }),
      await explain(session, statements.readPressure, {}),
    ]) {
      expect(JSON.stringify(plan)).not.toContain("jobs_archive");
      expect(looksAt(plan, "jobs")).not.toContain("all of it");
    }
  });
});

describe("pause and resume", () => {
  test.each([[""], ["x".repeat(201)], ["a\u0000"], [undefined], [5]])("refuse %j as a lane", async (lane) => {
    expect(await rejectionOf(admin.pause(lane as string))).toMatchObject({ code: "INVALID_OPTION", option: "lane" });
    expect(await rejectionOf(admin.resume(lane as string))).toMatchObject({ code: "INVALID_OPTION", option: "lane" });
  });

  test("a second pause keeps the moment of the first", async () => {
    await admin.pause("mail");
    await database.pool.query("update queue.lanes set paused_at = '2020-01-01Z'");
    await admin.pause("mail");
    const { rows } = await database.pool.query("select paused_at from queue.lanes");
    expect(rows).toEqual([{ paused_at: new Date(Date.UTC(2020, 0)) }]);
  });
});

describe("looking ahead", () => {
  test("gives each line with queued jobs, and when the next one that is not due yet will be", async () => {
    await queue.enqueue(db, "a", 1);
    await queue.enqueue(db, "a", 1, { delay: "1h" });
    await queue.enqueue(db, "a", 1, { delay: "10s", lane: "mail", priority: 2 });
    await queue.enqueue(db, "b", 1, { delay: "1s", lane: "mail", priority: 2 });
    await queue.enqueue(db, "b", 1, { delay: "1s", lane: "mail", priority: 3 });
    await queue.enqueue(db, "b", 1, { lane: "zzz" });
    const ahead = await worker.lookAhead(["a"]);
    const seconds = (ms: string | null) => (ms === null ? null : Number(ms) / 1_000);
    expect(ahead.map(({ lane, priority, due_in_ms }) => [lane, priority, seconds(due_in_ms)])).toEqual([
      ["default", 5, about(3_600)],
      ["mail", 2, about(10)],
      ["mail", 3, null],
      ["zzz", 5, null],
    ]);
    expect(await worker.lookAhead([])).toHaveLength(4);
    await database.pool.query("update queue.jobs set status = 'dead'");
    expect(await worker.lookAhead()).toEqual([]);
  });
});
