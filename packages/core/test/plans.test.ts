import { useTestDatabase } from "@queue/test-database";
import { createWorkerStatements } from "@queue/core/internal";
import { beforeAll, describe, expect, test } from "vitest";
import { enqueueKeyedJobs } from "../src/store/enqueue-keyed-jobs.js";
import { type ExplainOptions, explain, looksAt, pagesTouched, sorts } from "./support/explain.js";
import { openSession, type Session } from "./support/session.js";
import { line } from "./support/worker-on.js";

const statements = createWorkerStatements("queue");
const groups = JSON.stringify([
  { take: 3, lines: [line("mail", 0), line("mail", 5)] },
  { take: 10, lines: [line("default", 5), line("other", 5, "1700000000000000", "17")] },
]);
const claim = { groups, kinds: '{"a","b"}', limit: 10, worker: "w1", leaseMs: 30_000 };
const ids = `{${Array.from({ length: 100 }, (_, n) => n + 1).join(",")}}`;
const fences = `{${Array.from({ length: 100 }, () => 1).join(",")}}`;
const complete = { ids, fences, keeps: fences, worker: "w1" };
const extend = { ids, fences, worker: "w1", leaseMs: 30_000 };
const requeue = {
  jobs: JSON.stringify(
    Object.fromEntries(Array.from({ length: 100 }, (_, n) => [n + 1, { fence: 1, status: "queued", delayMs: 5, attemptsBack: 0 }])),
  ),
  worker: "w1",
};

const keyed = {
  kind: "a",
  lane: "default",
  priority: 5,
  max_attempts: 8,
  delay_ms: 0,
  run_at: null,
  key: "k1",
  hold_ms: null,
  release_on: "ended",
  payload: 1,
};

/** The states that made another planner leave the index; each begins where the one before it ended. */
const states: [name: string, prepare: (session: Session) => Promise<unknown>][] = [
  ["an empty table", () => Promise.resolve()],
  ["an empty table that was vacuumed and analysed", (session) => session.query("vacuum analyze queue.jobs")],
  ["a table that was never analysed", (session) => fill(session, 20_000)],
  ["a table of dead rows only", (session) => session.query("delete from queue.jobs")],
  ["a table of dead rows only that was analysed", (session) => session.query("analyze queue.jobs")],
  ["a table that filled up after it was analysed while empty", (session) => fill(session, 20_000)],
  ["a table of a million jobs", (session) => fill(session, 980_000)],
  ["a table of a million jobs that was analysed", (session) => session.query("vacuum analyze queue.jobs")],
];

async function fill(session: Session, count: number): Promise<void> {
  await session.query(
    `insert into queue.jobs (lane, kind, priority, payload, status, run_at, claims, worker, locked_until)
     select (array['default', 'mail', 'other', 'default'])[1 + i % 4], (array['a', 'b', 'c'])[1 + i % 3], 5, '{"n": 1}',
            case when i % 1000 = 0 then 'running' else 'queued' end::queue.job_status, now() + interval '1 second' * (i % 200 - 100), 1,
            case when i % 1000 = 0 then 'w1' end, case when i % 1000 = 0 then now() - interval '1 second' * (i % 2000) end
       from generate_series(1, $1::int) i`,
    [count],
  );
}

const database = useTestDatabase();

beforeAll(async () => {
  await database.pool.query("alter table queue.jobs set (autovacuum_enabled = off)");
});

const ways: [name: string, options: ExplainOptions][] = [
  ["planned for its parameters", {}],
  ["as a generic plan", { generic: true }],
];

describe.each(states)("on %s", (_name, prepare) => {
  beforeAll(async () => {
    await using session = await openSession(database.url);
    await prepare(session);
  }, 60_000);

  test.each(ways)("the claim is an ordered scan of the claim index, %s", async (_way, options) => {
    await using session = await openSession(database.url);
    const plan = await explain(session, statements.claimJobs, claim, options);
    // The candidates by the claim index, the update by id.
    expect(
      looksAt(plan, "jobs")
        .map((look) => look.replace("bitmap jobs_pkey", "jobs_pkey"))
        .sort(),
    ).toEqual(["jobs_claim", "jobs_pkey"]);
    expect(sorts(plan)).toBe(false);
  });

  test.each(ways)("a job's kind is looked up by a hash of all kinds, %s", async (_way, options) => {
    await using session = await openSession(database.url);
    for (const plan of [
      await explain(session, statements.claimJobs, claim, options),
      await explain(session, statements.lookAhead, { known: "[]", kinds: claim.kinds }, options),
      await explain(session, statements.lookBehind, { lines: "[]", kinds: claim.kinds }, options),
    ]) {
      expect(JSON.stringify(plan)).toContain("hashed SubPlan");
    }
  });

  test.each(ways)("settling and extending read the primary key only, %s", async (_way, options) => {
    await using session = await openSession(database.url);
    for (const plan of [
      await explain(session, statements.completeJobs, complete, options),
      await explain(session, statements.requeueJobs, requeue, options),
      await explain(session, statements.extendLeases, extend, options),
    ]) {
      for (const look of looksAt(plan, "jobs")) expect(["jobs_pkey", "bitmap jobs_pkey"]).toContain(look);
    }
  });

  test.each(ways)("the sweep reads the running jobs, and the look ahead steps through the claim index, %s", async (_way, options) => {
    await using session = await openSession(database.url);
    const sweep = looksAt(
      await explain(session, statements.returnExpiredJobs, { limit: 100, except: "{}", withinMs: 60_000 }, options),
      "jobs",
    );
    for (const look of sweep) expect(["jobs_pkey", "bitmap jobs_pkey", "jobs_running", "bitmap jobs_running"]).toContain(look);
    const release = looksAt(
      await explain(session, statements.releaseUnknownJobs, { worker: "w1", known: "{1,2}", until: null }, options),
      "jobs",
    );
    for (const look of release) expect(["jobs_pkey", "bitmap jobs_pkey", "jobs_running", "bitmap jobs_running"]).toContain(look);
    expect(looksAt(await explain(session, statements.lookAhead, { known: "[]", kinds: '{"a"}' }, options), "jobs")).toEqual(["jobs_claim"]);
    const lines = JSON.stringify([{ lane: "default", priority: 5 }]);
    expect(looksAt(await explain(session, statements.lookAhead, { known: lines, kinds: '{"a"}' }, options), "jobs")).toEqual([
      "jobs_claim",
    ]);
  });

  test.each(ways)("an enqueue with keys looks its keys and their jobs up, %s", async (_way, options) => {
    await using session = await openSession(database.url);
    const rows = JSON.stringify([
      { ...keyed, position: 0 },
      { ...keyed, position: 1, key: "k2" },
    ]);
    const plan = await explain(session, enqueueKeyedJobs("queue"), { rows }, options);
    for (const look of looksAt(plan, "jobs")) expect(["jobs_pkey", "bitmap jobs_pkey"]).toContain(look);
  });
});

describe("on a million jobs", () => {
  /** Pages that a claim of ten reads. */
  async function pagesRead(claimLine: ReturnType<typeof line>, options: ExplainOptions = {}): Promise<number> {
    await using session = await openSession(database.url);
    await session.query("begin");
    const groupsOfOne = JSON.stringify([{ take: 10, lines: [claimLine] }]);
    const plan = await explain(session, statements.claimJobs, { ...claim, groups: groupsOfOne }, { ...options, analyze: true });
    await session.query("rollback");
    return pagesTouched(plan);
  }

  test.each(ways)("a claim of ten reads a few hundred pages, %s", async (_way, options) => {
    expect(await pagesRead(line("default"), options)).toBeLessThan(400);
  });

  test("of which the oldest are dead rows that a snapshot keeps, a cursor leaves them out", async () => {
    await using holder = await openSession(database.url);
    await holder.query("begin isolation level repeatable read; select 1");
    await using session = await openSession(database.url);
    await session.query("delete from queue.jobs where lane = 'default' and run_at < now() - interval '10 seconds'");
    const [{ since } = { since: "0" }] = await session.query<{ since: string }>(
      "select (extract(epoch from min(run_at)) * 1000000)::int8::text as since from queue.jobs where lane = 'default'",
    );
    expect(await pagesRead(line("default", 5, since))).toBeLessThan(400);
    await holder.query("rollback");
  });

  test("of which 20,000 are due at the same microsecond, the cursor goes on by their ids", async () => {
    await using holder = await openSession(database.url);
    await holder.query("begin isolation level repeatable read; select 1");
    await using session = await openSession(database.url);
    const at = "2026-01-01 00:00:00.123456Z";
    await session.query("insert into queue.jobs (lane, kind, run_at) select 'ties', 'a', $1::timestamptz from generate_series(1, 20000)", [
      at,
    ]);
    await session.query("delete from queue.jobs where lane = 'ties' and id <= (select max(id) - 100 from queue.jobs)");
    const [cursor] = await session.query<{ since: string; id: string }>(
      "select (extract(epoch from min(run_at)) * 1000000)::int8::text as since, min(id)::text as id from queue.jobs where lane = 'ties'",
    );
    const withId = await pagesRead(line("ties", 5, cursor?.since, cursor?.id));
    const withoutId = await pagesRead(line("ties", 5, cursor?.since));
    expect(withId).toBeLessThan(200);
    expect(withoutId).toBeGreaterThan(withId);
    await holder.query("rollback");
  });
});
