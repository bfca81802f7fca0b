import { createQueue, job } from "@queue/core";
import { leaseExpiredMessage } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { about } from "./support/close-to.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

async function run(count: number, maxAttempts = 8) {
  await queue.enqueueMany(
    db,
    Array.from({ length: count }, (_, n) => ({ kind: "a", payload: n, options: { maxAttempts } })),
  );
  return (await worker.claim({ limit: count, leaseMs: 1_000 })).toSorted((a, b) => Number(a.id) - Number(b.id));
}

const expire = () => database.pool.query("update queue.jobs set locked_until = now() - interval '1 second' where status = 'running'");

async function leaseSeconds(): Promise<number[]> {
  const { rows } = await database.pool.query<{ s: number }>(
    "select extract(epoch from locked_until - clock_timestamp())::float8 as s from queue.jobs order by id",
  );
  return rows.map(({ s }) => s);
}

describe("a heartbeat", () => {
  test("extends every lease that it names, by the database's clock", async () => {
    const claimed = await run(3);
    expect(await worker.extend(claimed, 90_000)).toEqual(claimed.map(({ id }) => ({ id, extended: true, held: true })));
    expect(await leaseSeconds()).toEqual([about(90), about(90), about(90)]);
    expect(await worker.extend([])).toEqual([]);
  });

  test("skips a row that is being written, and says that it is held still", async () => {
    const claimed = await run(2);
    await using session = await openSession(database.url);
    await session.query("begin");
    await workerOn(session.executor).complete(claimed.slice(0, 1));
    expect(await worker.extend(claimed, 90_000)).toEqual([
      { id: claimed[0]?.id, extended: false, held: true },
      { id: claimed[1]?.id, extended: true, held: true },
    ]);
    await session.query("commit");
    expect((await worker.extend(claimed))[0]).toEqual({ id: claimed[0]?.id, extended: false, held: false });
  });

  test.each<[name: string, spoil: string]>([
    ["another worker has it", "update queue.jobs set worker = 'w2'"],
    ["it was claimed again", "update queue.jobs set claims = claims + 1"],
    ["it is queued again", "update queue.jobs set status = 'queued'"],
    ["it is gone", "delete from queue.jobs"],
  ])("says that the lease is lost when %s", async (_name, spoil) => {
    const claimed = await run(1);
    await database.pool.query(spoil);
    const before = (await database.pool.query("select * from queue.jobs")).rows;
    expect(await worker.extend(claimed)).toEqual([{ id: claimed[0]?.id, extended: false, held: false }]);
    expect((await database.pool.query("select * from queue.jobs")).rows).toEqual(before);
  });

  test("extends a lease that ran out while nobody took the job", async () => {
    const claimed = await run(1);
    await expire();
    expect(await worker.extend(claimed, 90_000)).toEqual([{ id: claimed[0]?.id, extended: true, held: true }]);
    expect(await worker.sweep()).toEqual([]);
  });
});

describe("the sweep", () => {
  test("leaves live leases alone", async () => {
    await run(3);
    expect(await worker.sweep()).toEqual([]);
  });

  test("B41: returns a job with attempts left to the queue, and one without to the dead letters", async () => {
    const [again, last] = [...(await run(1, 2)), ...(await run(1, 1))];
    await expire();
    const swept = await worker.sweep();
    expect(swept.toSorted((a, b) => Number(a.id) - Number(b.id))).toEqual([
      { id: again?.id, kind: "a", lane: "default", status: "queued", attempts: 1, worker: "w1" },
      { id: last?.id, kind: "a", lane: "default", status: "dead", attempts: 1, worker: "w1" },
    ]);
    const { rows } = await database.pool.query(
      "select id::text, status, locked_until, last_error, errors, run_at >= started_at as later, run_at <= clock_timestamp() as due from queue.jobs order by queue.jobs.id",
    );
    const failure = { name: "LeaseExpired", message: leaseExpiredMessage, attempt: 1, at: expect.any(String), worker: "w1" };
    const common = { locked_until: null, last_error: leaseExpiredMessage, errors: [failure], due: true };
    expect(rows).toEqual([
      { id: again?.id, status: "queued", later: false, ...common },
      { id: last?.id, status: "dead", later: true, ...common },
    ]);
    expect(await worker.claim()).toMatchObject([{ id: again?.id, attempts: 2, claims: 2 }]);
    await expire();
    expect(await worker.sweep()).toMatchObject([{ id: again?.id, status: "dead", attempts: 2 }]);
  });

  test("lets what it returns keep its place in the line, as far back as claims look", async () => {
    const expired = [...(await run(1, 2)), ...(await run(1, 2)), ...(await run(1, 1))];
    const ages = [100, 10_000, 100];
    for (const [n, claimed] of expired.entries()) {
      await database.pool.query("update queue.jobs set run_at = clock_timestamp() - $1 * interval '1 second' where id = $2", [
        ages[n],
        claimed.id,
      ]);
    }
    await expire();
    await worker.sweep();
    const { rows } = await database.pool.query<{ age: number }>(
      "select extract(epoch from clock_timestamp() - run_at)::float8 as age from queue.jobs order by id",
    );
    const [kept, far, dead] = rows.map(({ age }) => age);
    expect(kept).toBeGreaterThanOrEqual(100);
    expect(kept).toBeLessThan(130);
    expect(far).toBeGreaterThanOrEqual(240);
    expect(far).toBeLessThan(256);
    expect(dead).toBeLessThan(30);
  });

  test("takes no more than its limit, and the rest the next time", async () => {
    await run(5);
    await expire();
    expect(await worker.sweep(2)).toHaveLength(2);
    expect(await worker.sweep(2)).toHaveLength(2);
    expect(await worker.sweep(2)).toHaveLength(1);
    expect(await worker.sweep(2)).toHaveLength(0);
  });

  test("leaves alone what it is told to: the sweeping process runs it, and is about to extend it", async () => {
    const [own, foreign] = await run(2);
    await expire();
    const swept = await worker.run(worker.statements.returnExpiredJobs, { limit: 100, except: `{${own?.id}}`, withinMs: null });
    expect(swept.map(({ id }) => id)).toEqual([foreign?.id]);
    expect(await worker.sweep()).toMatchObject([{ id: own?.id }]);
  });

  test("skips a job that is being settled, and two sweepers share the work", async () => {
    const claimed = await run(3);
    await expire();
    await using settling = await openSession(database.url);
    await using other = await openSession(database.url);
    await settling.query("begin");
    expect(await workerOn(settling.executor).complete(claimed.slice(0, 1))).toHaveLength(1);
    await other.query("begin");
    expect(await workerOn(other.executor).sweep(1)).toHaveLength(1);
    expect(await worker.sweep()).toHaveLength(1);
    await settling.query("commit");
    await other.query("commit");
    expect(await worker.sweep()).toEqual([]);
  });

  test("a history that is full drops its oldest failure", async () => {
    await run(1, 100);
    await database.pool.query(
      "update queue.jobs set errors = (select jsonb_agg(jsonb_build_object('attempt', n)) from generate_series(1, 20) n)",
    );
    await expire();
    await worker.sweep();
    const { rows } = await database.pool.query(
      "select jsonb_array_length(errors) as length, errors->0->'attempt' as first from queue.jobs",
    );
    expect(rows).toEqual([{ length: 20, first: 2 }]);
  });
});

describe("a claim whose answer was lost", () => {
  const release = (known: readonly string[], name = "w1") =>
    worker.run(worker.statements.releaseUnknownJobs, { worker: name, known: `{${known.join(",")}}`, until: null });

  test("is given back, with the attempt, by the worker that does not know of it; what it knows goes on", async () => {
    const [known, unknown] = await run(2);
    expect(await release([known?.id ?? ""])).toEqual([{ id: unknown?.id }]);
    const { rows } = await database.pool.query(
      "select id::text, status, attempts, claims, locked_until, run_at < started_at as at_its_place from queue.jobs where status = 'queued'",
    );
    expect(rows).toEqual([{ id: unknown?.id, status: "queued", attempts: 0, claims: 1, locked_until: null, at_its_place: true }]);
    expect(await worker.extend([known].flatMap((row) => row ?? []))).toMatchObject([{ extended: true }]);
    expect(await worker.claim()).toMatchObject([{ id: unknown?.id, attempts: 1, claims: 2 }]);
  });

  test("is no other worker's business, and a row that is being written is skipped", async () => {
    const [settling, unknown] = await run(2);
    expect(await release([], "w2")).toEqual([]);
    await using session = await openSession(database.url);
    await session.query("begin");
    await workerOn(session.executor).complete([settling].flatMap((row) => row ?? []));
    expect(await release([])).toEqual([{ id: unknown?.id }]);
    await session.query("commit");
    expect(await release([])).toEqual([]);
  });
});
