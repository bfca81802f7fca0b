import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { openSession } from "../support/session.js";
import { rejectionOf } from "../support/thrown-by.js";
import { functionsOn } from "./support/functions-on.js";

const database = useTestDatabase();
const { claim, enqueue, enqueueMany, expire, job: find, rows, sweep, valueOf } = functionsOn(() => database.pool);

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.workers, queue.effects");
});

const heartbeat = (jobs: readonly { id: string; fence: number }[], worker = "w1", lease = "1 hour") =>
  rows("select * from queue.heartbeat($1, $2, $3, $4) order by id", [
    worker,
    jobs.map(({ id }) => id),
    jobs.map(({ fence }) => fence),
    lease,
  ]);

describe("heartbeat", () => {
  test("extends the leases of all that a worker runs, and says which it has lost", async () => {
    await enqueueMany([{ kind: "a" }, { kind: "a" }]);
    const [kept, lost] = await claim({ lease: "1 s" });
    if (kept === undefined || lost === undefined) throw new Error("Two were to be claimed.");
    await rows("update queue.jobs set claims = 2 where id = $1", [lost.id]);
    expect(await heartbeat([kept, lost])).toEqual([
      { id: kept.id, extended: true, held: true },
      { id: lost.id, extended: false, held: false },
    ]);
    expect(await rows("select id from queue.jobs where locked_until > clock_timestamp() + interval '30 minutes'")).toEqual([
      { id: kept.id },
    ]);
    expect(await heartbeat([kept], "w2")).toEqual([{ id: kept.id, extended: false, held: false }]);
    expect(await heartbeat([])).toEqual([]);
  });

  test("does not wait for a job that is being written", async () => {
    await enqueue("a");
    const claimed = await claim();
    await using other = await openSession(database.url);
    await other.query("begin");
    await other.query("select from queue.jobs for update");
    expect(await heartbeat(claimed)).toEqual([{ id: claimed[0]?.id, extended: false, held: true }]);
    await other.query("rollback");
  });

  test.each(["'w', '{1,2}', '{1}'", "'w', null, null", "'w', '{1}', null"])("refuses (%s)", async (given) => {
    expect(await rejectionOf(rows(`select * from queue.heartbeat(${given})`))).toMatchObject({
      code: "22023",
      message: "heartbeat: ids and fences must be arrays of the same length, a fence for each id.",
    });
  });
});

describe("sweep", () => {
  test("returns what ran out, in its place, and nothing that is held or is told to be left alone", async () => {
    await enqueueMany([{ kind: "a" }, { kind: "a" }, { kind: "a" }]);
    const [first, second] = await claim({ maxJobs: 2 });
    expect(await sweep()).toEqual([]);
    await expire();
    expect(await rows("select id from queue.sweep(10, $1)", [[second?.id]])).toEqual([{ id: first?.id }]);
    expect(await find(first?.id ?? "")).toMatchObject({ status: "queued", run_at: first?.run_at, errors: [{ name: "LeaseExpired" }] });
    expect(await rows("select id from queue.sweep(1)")).toEqual([{ id: second?.id }]);
  });

  test.each(["0", "null", "1001"])("refuses to sweep %s", async (given) => {
    expect(await rejectionOf(rows(`select * from queue.sweep(${given})`))).toMatchObject({
      code: "22023",
      message: `sweep: max_jobs must be a whole number from 1 to 1000, but is ${given}.`,
    });
  });
});

test("a worker says that it lives, and takes its leave", async () => {
  expect(await valueOf("queue.register_worker('w1', '{a,b}', '{mail}', 'host', 7)", [])).toBe(true);
  expect(await valueOf("queue.register_worker('w2', '{a}')", [])).toBe(true);
  expect(await rows("select id, kinds, lanes, host, pid, expires_at > now() as lives from queue.workers order by id")).toEqual([
    { id: "w1", kinds: ["a", "b"], lanes: ["mail"], host: "host", pid: 7, lives: true },
    { id: "w2", kinds: ["a"], lanes: null, host: "", pid: 0, lives: true },
  ]);
  expect(await valueOf("queue.unregister_worker('w1')", [])).toBe(true);
  expect(await valueOf("queue.unregister_worker('w1')", [])).toBe(false);
  expect(await rejectionOf(valueOf("queue.register_worker('w1', null)", []))).toMatchObject({ code: "22023" });
});

test("clean removes keys that nothing holds any more, and no others", async () => {
  await enqueue("a", 1, { key: "over" });
  await enqueue("a", 2, { key: "held" });
  for (let n = 0; n < 5; n++) await enqueue("gone", n, { key: `gone ${n}`, keyHolds: "until-ended" });
  await rows("update queue.job_keys set expires_at = '2000-01-01' where key = 'over'");
  await rows("delete from queue.jobs where kind = 'gone'");
  expect(await rows("select * from queue.clean(2)")).toEqual([{ keys: "6", effects: "0", archived: "0" }]);
  expect(await rows("select key from queue.job_keys")).toEqual([{ key: "held" }]);
  expect(await rejectionOf(rows("select * from queue.clean(0)"))).toMatchObject({ code: "22023" });
});
