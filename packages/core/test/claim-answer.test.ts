import { readClaimAnswer } from "@queue/core/internal";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { line, workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
  worker = workerOn(db);
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys, queue.lanes");
});

/** The database's clock, in microseconds since 1970. */
async function nowMicros(): Promise<number> {
  const { rows } = await database.pool.query<{ now: string }>(
    "select (extract(epoch from clock_timestamp()) * 1000000)::int8::text as now",
  );
  return Number(rows[0]?.now);
}

describe("the answer to a claim", () => {
  test("says when it looked, also when it took nothing", async () => {
    const before = await nowMicros();
    const { now, ...rest } = await worker.claimAnswer();
    expect(rest).toEqual({ claimed: [], paused: [], completed: [] });
    expect(Number(now)).toBeGreaterThanOrEqual(before);
    expect(Number(now)).toBeLessThanOrEqual(await nowMicros());
  });

  test("says when its transaction began: what became due later was not looked at", async () => {
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select now()");
    await queue.enqueue(db, "a", 1);
    const { now, claimed } = await workerOn(session.executor).claimAnswer();
    await session.query("commit");
    expect(claimed).toEqual([]);
    const { rows } = await database.pool.query<{ is_later: boolean }>(
      "select run_at > timestamptz 'epoch' + $1::int8 * interval '1 microsecond' as is_later from queue.jobs",
      [now],
    );
    expect(rows).toEqual([{ is_later: true }]);
  });

  test("has each job with its line and its place in it, to the microsecond", async () => {
    const at = "2026-01-01 00:00:00.123456Z";
    await database.pool.query("insert into queue.jobs (kind, lane, priority, run_at) values ('a', 'x', 3, $1), ('a', 'x', 3, $1)", [at]);
    const { claimed } = await worker.claimAnswer({ groups: [{ take: 5, lines: [line("x", 3)] }] });
    expect(claimed).toHaveLength(2);
    for (const row of claimed) expect(row).toMatchObject({ lane: "x", priority: 3, run_at: "1767225600123456" });
  });

  test("names the lanes that are paused, whatever they are called, and not those that were resumed", async () => {
    const names = ["mail", "a,b", '{"x"}', "null", 'say "hi"', "Ünïcödé"];
    const admin = queue.admin(db);
    for (const lane of [...names, "resumed"]) await admin.pause(lane);
    await admin.resume("resumed");
    const { paused } = await worker.claimAnswer();
    expect([...paused].toSorted()).toEqual(names.toSorted());
  });

  test("names a lane exactly when it took nothing from it because of the pause", async () => {
    await queue.enqueue(db, "a", 1, { lane: "mail" });
    await using session = await openSession(database.url);
    await session.query("begin");
    await queue.admin(session.executor).pause("mail");
    // Not committed: the claim sees no pause, and says so.
    const first = await worker.claimAnswer({ lanes: ["mail"] });
    expect([first.claimed.length, first.paused]).toEqual([1, []]);
    await session.query("commit");
    await queue.enqueue(db, "a", 2, { lane: "mail" });
    const second = await worker.claimAnswer({ lanes: ["mail"] });
    expect([second.claimed.length, second.paused]).toEqual([0, ["mail"]]);
  });

  test("tells a payload of null from the row that has none", async () => {
    await database.pool.query("insert into queue.jobs (kind) values ('a')");
    const { claimed } = await worker.claimAnswer();
    expect(claimed).toMatchObject([{ payload: "null", kind: "a" }]);
  });
});

test("readClaimAnswer takes rows in any order, and no rows at all", async () => {
  await queue.enqueue(db, "a", 1);
  await queue.enqueue(db, "a", 2);
  const input = { groups: JSON.stringify([{ take: 9, lines: [line("default")] }]), kinds: "{a}", limit: 9, worker: "w1", leaseMs: 1_000 };
  const rows = await worker.run(worker.statements.claimJobs, input);
  const answer = readClaimAnswer(rows);
  expect(answer.claimed).toHaveLength(2);
  expect(readClaimAnswer(rows.toReversed())).toEqual({ ...answer, claimed: answer.claimed.toReversed() });
  expect(readClaimAnswer([])).toEqual({ claimed: [], now: "0", paused: [], completed: [] });
});
