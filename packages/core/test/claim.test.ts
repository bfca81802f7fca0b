import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { line, workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>(), b: job<number>(), constructor: job<number>(), 'say "hi", {you}\\': job<number>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.lanes");
});

/** What was claimed, in the order in which a worker starts it. */
const payloads = (rows: readonly { payload: string; priority: number; run_at: string; id: string }[]) =>
  rows
    .toSorted((a, b) => a.priority - b.priority || Number(a.run_at) - Number(b.run_at) || Number(a.id) - Number(b.id))
    .map(({ payload }) => Number(payload));

async function enqueueIn(lane: string, priority: 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9, ...numbers: number[]): Promise<void> {
  await queue.enqueueMany(
    db,
    numbers.map((payload) => ({ kind: "a", payload, options: { lane, priority } })),
  );
}

describe("a claim", () => {
  test("counts the attempt, takes a lease, and says all that a handler needs to know", async () => {
    const { id } = await queue.enqueue(db, "a", 7, { key: "k", maxAttempts: 3, priority: 2 });
    const [row, ...others] = await worker.claim({ groups: [{ take: 1, lines: [line("default", 2)] }], leaseMs: 30_000 });
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      id,
      kind: "a",
      lane: "default",
      priority: 2,
      payload: "7",
      attempts: 1,
      max_attempts: 3,
      claims: 1,
      idempotency_key: "k",
      created_at: expect.stringMatching(/^\d{16}$/),
      run_at: expect.stringMatching(/^\d{16}$/),
    });
    const { rows } = await database.pool.query(
      `select status, attempts, claims, worker, round(extract(epoch from locked_until - started_at))::int as lease,
              started_at >= run_at as started from queue.jobs`,
    );
    expect(rows).toEqual([{ status: "running", attempts: 1, claims: 1, worker: "w1", lease: 30, started: true }]);
  });

  test("takes no more than its limit, and the oldest first", async () => {
    await enqueueIn("default", 5, 1, 2, 3, 4, 5);
    expect(payloads(await worker.claim({ limit: 2 }))).toEqual([1, 2]);
    expect(payloads(await worker.claim({ limit: 2 }))).toEqual([3, 4]);
    expect(payloads(await worker.claim({ limit: 2 }))).toEqual([5]);
    expect(await worker.claim({ limit: 2 })).toEqual([]);
  });

  test("takes what is due only: not a microsecond before its time", async () => {
    await queue.enqueue(db, "a", 1, { delay: "1h" });
    await queue.enqueue(db, "a", 2, { runAt: new Date(Date.now() + 60_000) });
    expect(await worker.claim()).toEqual([]);
    await database.pool.query("update queue.jobs set run_at = now() where payload = '2'");
    expect(payloads(await worker.claim())).toEqual([2]);
    // The begin of a transaction is its "now": what became due after it waits for the next.
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select now()");
    await database.pool.query("update queue.jobs set run_at = clock_timestamp() where payload = '1'");
    expect(await workerOn(session.executor).claim()).toEqual([]);
    await session.query("commit");
    expect(payloads(await worker.claim())).toEqual([1]);
  });

  test("B36, B15: takes the kinds that it names only; the others stay as they were", async () => {
    await queue.enqueue(db, "b", 1);
    await queue.enqueue(db, "constructor", 2);
    await queue.enqueue(db, 'say "hi", {you}\\', 3);
    expect(await worker.claim({ kinds: ["a", "toString", "__proto__"] })).toEqual([]);
    expect(await worker.claim({ kinds: [] })).toEqual([]);
    const { rows } = await database.pool.query("select distinct status, attempts, claims from queue.jobs");
    expect(rows).toEqual([{ status: "queued", attempts: 0, claims: 0 }]);
    expect(payloads(await worker.claim({ kinds: ['say "hi", {you}\\'] }))).toEqual([3]);
    expect(payloads(await worker.claim({ kinds: ["constructor", "b"] }))).toEqual([1, 2]);
  });

  test("a kind that nobody takes does not stand in the way of those behind it", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 500 }, (_, n) => ({ kind: "b", payload: n })),
    );
    await queue.enqueue(db, "a", 1);
    expect(payloads(await worker.claim({ limit: 1 }))).toEqual([1]);
  });

  test("skips what another transaction has locked, and waits for nobody", async () => {
    await enqueueIn("default", 5, 1, 2, 3);
    await using session = await openSession(database.url);
    await session.query("begin");
    expect(payloads(await workerOn(session.executor, { worker: "w2" }).claim({ limit: 2 }))).toEqual([1, 2]);
    expect(payloads(await worker.claim())).toEqual([3]);
    await session.query("rollback");
    expect(payloads(await worker.claim())).toEqual([1, 2]);
  });

  test("locks no more than it takes, however many lines it looks at", async () => {
    for (const lane of ["a", "b", "c"]) await enqueueIn(lane, 5, 1, 2, 3);
    await using session = await openSession(database.url);
    await session.query("begin");
    expect(await workerOn(session.executor).claim({ limit: 1, lanes: ["a", "b", "c"] })).toHaveLength(1);
    expect(await worker.claim({ limit: 10, lanes: ["a", "b", "c"] })).toHaveLength(8);
    await session.query("commit");
  });

  test("takes nothing that is running, waiting or dead", async () => {
    await enqueueIn("default", 5, 1, 2, 3);
    await database.pool.query("update queue.jobs set status = (array['running', 'waiting', 'dead'])[payload::int]::queue.job_status");
    expect(await worker.claim()).toEqual([]);
  });

  test("B31: two jobs of one key, one of them waiting for its retry, run side by side and hold nobody up", async () => {
    const held = { key: "k", keyHolds: "until-started" } as const;
    await queue.enqueue(db, "a", 0, held);
    const [first] = await worker.claim();
    if (first === undefined) throw new Error("Nothing was due.");
    await worker.requeue({ [first.id]: { fence: 1, status: "queued", delayMs: 0, attemptsBack: 0 } });
    await queue.enqueue(db, "a", 0, held);
    await enqueueIn("default", 5, ...Array.from({ length: 20 }, (_, n) => n + 1));
    const claimed = [...(await worker.claim()), ...(await worker.claim()), ...(await worker.claim())];
    expect(claimed).toHaveLength(22);
  });
});

describe("lines and groups", () => {
  test("a higher priority comes first, whatever the age; only the lines that are named are looked at", async () => {
    await enqueueIn("default", 9, 1);
    await enqueueIn("default", 5, 2);
    await enqueueIn("default", 0, 3);
    const lines = [line("default", 0), line("default", 5), line("default", 9)];
    expect(payloads(await worker.claim({ limit: 1, groups: [{ take: 1, lines }] }))).toEqual([3]);
    expect(payloads(await worker.claim({ limit: 5, groups: [{ take: 5, lines: [line("default", 9)] }] }))).toEqual([1]);
    expect(payloads(await worker.claim({ limit: 5, groups: [{ take: 5, lines }] }))).toEqual([2]);
  });

  test("each group has a ceiling of its own under that of the claim", async () => {
    await enqueueIn("mail", 5, ...Array.from({ length: 10 }, (_, n) => n));
    await enqueueIn("mail", 1, 100);
    await enqueueIn("other", 5, ...Array.from({ length: 10 }, (_, n) => 200 + n));
    const groups = [
      { take: 3, lines: [line("mail", 1), line("mail", 5)] },
      { take: 8, lines: [line("other", 5)] },
    ];
    expect(payloads(await worker.claim({ limit: 9, groups }))).toEqual([100, 0, 1, 200, 201, 202, 203, 204, 205]);
    const first = await worker.claim({ limit: 2, groups });
    expect(payloads(first)).toEqual([2, 3]);
    expect(await worker.claim({ limit: 9, groups: [] })).toEqual([]);
    expect(await worker.claim({ limit: 9, groups: [{ take: 0, lines: [line("mail", 5)] }] })).toEqual([]);
  });

  test("a lane is the text that it is", async () => {
    const lanes = ["mail", "Mail", "mail ", 'a"b', "a\\b", "\u00fc", "it's"];
    for (const [n, lane] of lanes.entries()) await enqueueIn(lane, 5, n);
    for (const [n, lane] of lanes.entries()) expect(payloads(await worker.claim({ lanes: [lane] }))).toEqual([n]);
  });

  test("the cursor leaves out what is before it, to the microsecond and the id", async () => {
    await enqueueIn("default", 5, 1, 2, 3, 4);
    await database.pool.query(
      "update queue.jobs set run_at = timestamptz '2020-01-01 00:00:00.123456Z' + interval '1 microsecond' * greatest(0, payload::int - 2)",
    );
    const { rows } = await database.pool.query<{ id: string; micros: string }>(
      "select id::text, (extract(epoch from run_at) * 1000000)::int8::text as micros from queue.jobs order by payload",
    );
    const from = async (index: number, addMicros = 0n) => {
      const at = rows[index];
      const micros = (BigInt(at?.micros ?? 0) + addMicros).toString();
      const groups = [{ take: 9, lines: [line("default", 5, micros, addMicros === 0n ? at?.id : "0")] }];
      await database.pool.query("update queue.jobs set status = 'queued', worker = null");
      return payloads(await worker.claim({ limit: 9, groups }));
    };
    expect(await from(0)).toEqual([1, 2, 3, 4]);
    expect(await from(1)).toEqual([2, 3, 4]);
    expect(await from(2)).toEqual([3, 4]);
    expect(await from(2, 1n)).toEqual([4]);
    expect(await from(3, 1n)).toEqual([]);
  });
});

describe("a paused lane", () => {
  test("is not claimed from by anybody, until it is resumed; other lanes are", async () => {
    const admin = queue.admin(db);
    await enqueueIn("mail", 5, 1);
    await enqueueIn("other", 5, 2);
    await admin.pause("mail");
    await admin.pause("mail");
    expect(payloads(await worker.claim({ lanes: ["mail", "other"] }))).toEqual([2]);
    expect(await worker.claim({ lanes: ["mail"] })).toEqual([]);
    await admin.resume("mail");
    await admin.resume("mail");
    expect(payloads(await worker.claim({ lanes: ["mail", "other"] }))).toEqual([1]);
  });

  test("may be a lane that has never had a job", async () => {
    const admin = queue.admin(db);
    await admin.pause("new");
    await enqueueIn("new", 5, 1);
    expect(await worker.claim({ lanes: ["new"] })).toEqual([]);
    await admin.resume("new");
    expect(await worker.claim({ lanes: ["new"] })).toHaveLength(1);
  });
});
