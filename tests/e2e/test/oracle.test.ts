import { Kysely, PostgresDialect } from "kysely";
import { beforeEach, describe, expect, test } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { applications, type ChaosDatabase } from "../src/chaos/chaos-queue.js";
import { createTablesOfApplication } from "../src/chaos/chaos-world.js";
import { createEvidence, noteIdleSessions } from "../src/chaos/evidence.js";
import { barRule, historyOf, judge } from "../src/chaos/oracle.js";
import { rules } from "../src/chaos/oracle-rules.js";

const database = useTestDatabase();
let db: ChaosDatabase;

/** `at(1.5)`: an instant of the little world below, in seconds. */
const at = (seconds: number) => `to_timestamp(${1_767_225_600 + seconds})`;

const done = (id: number, kind: string, { token = "o", n = id, finishedAt = 5 } = {}) => `
  insert into queue.jobs_archive (id, kind, status, run_at, created_at, started_at, finished_at, keep_until, claims, attempts, max_attempts,
                                  redrives, priority, lane, idempotency_key, payload, errors)
  values (${id}, '${kind}', 'done', ${at(0)}, ${at(0)}, ${at(1)}, ${at(finishedAt)}, ${at(1e6)}, 1, 1, 50, 0, 5, 'default', '${token}/${n}',
          '{"token": "${token}"}', '[]');`;
const live = (id: number, kind: string, status: string, attempts: number, maxAttempts: number, { token = "o", n = id } = {}) => `
  insert into queue.jobs (id, kind, status, run_at, created_at, claims, attempts, max_attempts, idempotency_key, payload)
  values (${id}, '${kind}', '${status}', ${at(5)}, ${at(0)}, ${attempts}, ${attempts}, ${maxAttempts}, '${token}/${n}', '{"token": "${token}"}');`;
const order = (token: string, ...kinds: string[]) =>
  `insert into orders (token, kinds, placed_at) values ('${token}', '{${kinds.join(",")}}', ${at(0)});`;
const claim = (job: number, claims: number, pid: number, seconds: number, leasedUntil = "null") => `
  insert into chaos.changes (at, leased_until, job_id, claims, attempt, pid, is_claim, kind, became)
  values (${at(seconds)}, ${leasedUntil}, ${job}, ${claims}, ${claims}, ${pid}, true, 'plain', 'running');`;
const left = (
  job: number,
  claims: number,
  pid: number,
  seconds: number,
  { reason = "LeaseExpired", leasedUntil = seconds - 0.1, became = "queued", isGivenBack = false } = {},
) => `
  insert into chaos.changes (at, leased_until, job_id, claims, attempt, pid, is_claim, is_given_back, kind, became, reason)
  values (${at(seconds)}, ${at(leasedUntil)}, ${job}, ${claims}, ${claims}, ${pid}, false, ${isGivenBack}, 'plain', '${became}', '${reason}');`;
const run = (job: number, attempt: number, pid: number, from: number, to: number | undefined, { isOk = true, token = "o" } = {}) => `
  insert into chaos.runs (started_at, ended_at, job_id, attempt, pid, is_ok, token)
  values (${at(from)}, ${to === undefined ? "null" : at(to)}, ${job}, ${attempt}, ${pid}, ${isOk}, '${token}');`;
const enter = (job: number) => `insert into ledger (job_id, token, entered_at) values (${job}, 'o', ${at(2)});`;
const carryOut = (job: number, pid: number) => `insert into chaos.carried_out (at, job_id, pid) values (${at(2)}, ${job}, ${pid});`;

/**
 * All promises are kept. Jobs 1 to 3 are done at once by process 11. Job 4 fails four times. Process 12 holds 5 and 6 when it is
 * killed, before it has called the handler of 6; they start again in process 11. Job 7 is given back unstarted, and claimed again.
 */
const goodWorld = [
  order("o", "plain", "transactional", "once", "hopeless", "plain", "plain", "plain"),
  ...[
    [1, "plain"],
    [2, "transactional"],
    [3, "once"],
  ].flatMap(([id, kind]) => [done(Number(id), String(kind)), claim(Number(id), 1, 11, 1), run(Number(id), 1, 11, 1.1, 1.2)]),
  enter(2),
  carryOut(3, 11),
  live(4, "hopeless", "dead", 4, 4),
  ...[1, 2, 3, 4].flatMap((n) => [
    claim(4, n, 11, n),
    run(4, n, 11, n + 0.1, n + 0.2, { isOk: false }),
    left(4, n, 11, n + 0.3, { reason: "Error", leasedUntil: n + 2, became: n === 4 ? "dead" : "queued" }),
  ]),
  ...[5, 6].flatMap((id) => [
    done(id, "plain"),
    claim(id, 1, 12, 1),
    left(id, 1, 12, 3.4),
    claim(id, 2, 11, 3.5),
    run(id, 2, 11, 3.6, 3.7),
  ]),
  run(5, 1, 12, 1.1, undefined),
  `insert into chaos.faults (name, pid, began_at, ended_at, stops_everybody) values ('kill -9 a worker', 12, ${at(1.5)}, ${at(1.8)}, false);`,
  `insert into chaos.ends (at, pid, is_killed) values (${at(1.5)}, 12, true), (${at(6)}, 11, false);`,
  done(7, "plain"),
  claim(7, 1, 12, 1),
  left(7, 1, 12, 1.2, { reason: "Released", leasedUntil: 3, isGivenBack: true }),
  claim(7, 2, 11, 1.3),
  run(7, 2, 11, 1.4, 1.5),
].join("");

beforeEach(async () => {
  await database.pool.query(
    `drop schema if exists chaos cascade; drop table if exists orders, ledger; truncate queue.jobs, queue.jobs_archive`,
  );
  db = new Kysely({ dialect: new PostgresDialect({ pool: database.pool }) });
  await createTablesOfApplication(db);
  await createEvidence(db);
  await database.pool.query(goodWorld);
});

/** The rules that were broken, and how often. */
async function broken(): Promise<Record<string, number>> {
  const { violations } = await judge(db);
  return Object.fromEntries(violations.filter(({ count }) => count > 0).map(({ rule, count }) => [rule, count]));
}

test("a world that keeps every promise breaks no rule", async () => {
  expect(await broken()).toEqual({});
});

describe("an attempt that was spent by a process that was killed", () => {
  const notDone = `update queue.jobs_archive set status = 'cancelled' where id = 6;`;
  const claimAt = (second: number) => `update chaos.changes set at = ${at(second)} where job_id = 6 and claims = 1 and is_claim;`;

  test("is excused also when its claim was on its way, and was carried out a moment later", async () => {
    await database.pool.query(notDone + claimAt(1.515));
    const { violations, killedBeforeStart } = await judge(db);
    expect(violations.filter(({ count }) => count > 0).map(({ rule }) => rule)).toEqual(["not ended"]);
    expect(killedBeforeStart).toBe(1);
  });

  test("is not excused when the process had been dead for long: it cannot have claimed", async () => {
    await database.pool.query(`${notDone} update chaos.ends set at = ${at(-1.5)} where pid = 12;`);
    expect(await broken()).toMatchObject({ "an attempt was spent that no handler started": 1 });
  });
});

/** What breaks each rule, and what it breaks beside that. */
const harms: readonly { readonly rule: string; readonly by: string; readonly also?: Record<string, number> }[] = [
  { rule: "a committed job is not there", by: `delete from queue.jobs_archive where id = 1;` },
  {
    rule: "dead, though its handler does not fail",
    by: `${order("p", "plain")} ${live(8, "plain", "dead", 50, 50, { token: "p", n: 1 })} ${run(8, 1, 11, 1, 2, { isOk: false, token: "p" })}`,
  },
  { rule: "done, though its handler never came to an end", by: `update chaos.runs set is_ok = false where job_id = 1;` },
  { rule: "done, though its transaction left no ledger entry", by: `delete from ledger;` },
  { rule: "a job is there twice", by: done(8, "plain", { n: 1 }) + claim(8, 1, 11, 1) + run(8, 1, 11, 1, 2) },
  {
    rule: "a job is there though its transaction was rolled back",
    by: done(8, "plain", { token: "rolled back", n: 1 }) + claim(8, 1, 11, 1) + run(8, 1, 11, 1, 2),
  },
  { rule: "a job ran though its transaction was rolled back", by: run(8, 1, 11, 1, 2, { token: "rolled back" }) },
  { rule: "two ledger entries of one job", by: enter(2) },
  { rule: "a ledger entry of a job that is not done", by: enter(4) },
  { rule: "an effect of once carried out twice", by: carryOut(3, 12) },
  {
    rule: "two handlers at a time, though the lease had not run out",
    // Process 11 begins while 12 is still at it, and no lease ran out between.
    by: `update chaos.changes set at = at - interval '2.25 s' where job_id = 5 and claims = 2;
         update chaos.runs set started_at = started_at - interval '2.25 s' where job_id = 5 and attempt = 2;`,
  },
  { rule: "not ended", by: order("p", "plain") + live(8, "plain", "queued", 0, 50, { token: "p", n: 1 }) },
  { rule: "still locked", by: `update queue.jobs set locked_until = ${at(9)} where id = 4;` },
  { rule: "dead, but not after exactly its attempts", by: `update queue.jobs set attempts = 3 where id = 4;` },
  {
    rule: "a lease was taken away before it ran out",
    by: `update chaos.changes set leased_until = at + interval '1 s' where job_id = 6 and claims = 1 and not is_claim;`,
  },
  {
    rule: "an attempt was spent that no handler started",
    by: `update chaos.changes set is_given_back = false where job_id = 7; update queue.jobs_archive set status = 'cancelled' where id = 7;`,
    also: { "not ended": 1 },
  },
  {
    rule: "idle in a transaction, though no transactional handler had the session",
    by: `insert into chaos.idle_sessions values (${at(1)}, 77, '${applications.worker}', 'with candidates as …');`,
  },
  {
    rule: barRule,
    by: `update chaos.runs set started_at = started_at + interval '2 s', ended_at = ended_at + interval '2 s' where job_id = 6;`,
  },
];

test.each(harms)("the oracle sees: $rule", async ({ rule, by, also = {} }) => {
  await database.pool.query(by);
  expect(await broken()).toEqual({ [rule]: 1, ...also });
});

test("a frozen process that starts late, beside the worker that has the job by then, is counted and no violation", async () => {
  // Process 13 claims before 11 does, is frozen, and calls the handler when 11 is in the middle of it.
  await database.pool.query(
    done(8, "plain", { n: 1, token: "p" }) +
      order("p", "plain") +
      [claim(8, 1, 13, 1), left(8, 1, 13, 3.4), claim(8, 2, 11, 3.5)].join("") +
      run(8, 2, 11, 3.6, 4, { token: "p" }) +
      run(8, 1, 13, 3.8, 3.9, { token: "p" }),
  );
  expect(await broken()).toEqual({});
  await database.pool.query("drop table chaos.recoveries");
  expect((await judge(db)).startedLate).toBe(1);
});

test("the oracle sees: a handler called twice for one claim", async () => {
  await database.pool.query(run(1, 1, 11, 1.15, 1.18));
  expect(await broken()).toEqual({ "two handlers at a time, though the lease had not run out": 1 });
});

test("the oracle sees a session and an advisory lock that are left", async () => {
  const pool = database.newPool({ application_name: applications.worker, max: 1 });
  await pool.query("select pg_advisory_lock(1)");
  expect(await broken()).toEqual({ "a session or a lock is left": 2 });
  await pool.end();
});

test("no rule is without a test that breaks it", () => {
  const tested = [...harms.map(({ rule }) => rule), "a session or a lock is left"];
  expect(tested.toSorted()).toEqual([...rules.map(({ name }) => name), barRule].toSorted());
});

describe("a session that is idle in a transaction", () => {
  const idle = "idle in a transaction, though no transactional handler had the session";

  test.each([
    ["is found when it has run something", applications.worker, "select 1", { [idle]: 1 }],
    ["is the handler's own when it says so", applications.worker, `set local application_name = '${applications.transaction}'`, {}],
    ["is about to be a handler's when it has only begun", applications.worker, undefined, {}],
    ["is being counted, before its worker claims anything", applications.worker, "select 1 as ok", {}],
    ["is found on the listener's connection as well", applications.listener, "select 1", { [idle]: 1 }],
    ["is none of our business when a producer has it", applications.producer, "select 1", {}],
  ])("%s", async (_title, application, statement, expected) => {
    const pool = database.newPool({ application_name: application, max: 1 });
    const session = await pool.connect();
    await session.query("start transaction isolation level read committed read write");
    if (statement !== undefined) await session.query(statement);
    await noteIdleSessions(db);
    await session.query("rollback");
    session.release();
    await pool.end();
    await expect.poll(() => sessionsOf(application), { timeout: 15_000 }).toBe(0);
    expect(await broken()).toEqual(expected);
  });
});

/** A session ends a moment after its connection. */
async function sessionsOf(application: string): Promise<number> {
  const { rows } = await database.pool.query("select from pg_stat_activity where datname = current_database() and application_name = $1", [
    application,
  ]);
  return rows.length;
}

describe("the recovery of a job", () => {
  test("is counted from the death of its worker", async () => {
    expect((await judge(db)).longestRestartMs).toBeCloseTo(2_100);
  });

  test("is counted from the end of what stopped every worker", async () => {
    await database.pool.query(
      `insert into chaos.faults (name, began_at, ended_at, stops_everybody) values ('restart', ${at(2)}, ${at(3)}, true), ('later', ${at(4)}, ${at(5)}, true)`,
    );
    expect((await judge(db)).longestRestartMs).toBeCloseTo(600);
  });

  test("is not shortened by what stopped only some, but counted apart", async () => {
    await database.pool.query(
      `insert into chaos.faults (name, began_at, ended_at, stops_everybody) values ('network half open', ${at(2)}, ${at(3)}, false)`,
    );
    const verdict = await judge(db);
    expect([verdict.longestRestartMs, verdict.deathsAlone]).toEqual([null, 0]);
    expect(verdict.longestRestartBesidesMs).toBeCloseTo(2_100);
  });

  test("is that of a death with nothing else besides when the only other fault is a snapshot", async () => {
    await database.pool.query(
      `insert into chaos.faults (name, began_at, ended_at, stops_everybody) values ('a snapshot held open', ${at(0)}, ${at(9)}, false)`,
    );
    const verdict = await judge(db);
    expect(verdict.longestRestartMs).toBeCloseTo(2_100);
    expect([verdict.deathsAlone, verdict.longestRestartBesidesMs]).toEqual([1, null]);
  });
});

test("the trigger notes how each job went, in the words of the history", async () => {
  await database.pool.query(`
    insert into queue.jobs (id, kind, payload, idempotency_key) values (9, 'plain', '{"token": "o"}', 'o/9');
    update queue.jobs set status = 'running', claims = 1, attempts = 1, worker = 'host:13:abc', locked_until = ${at(2)} where id = 9;
    update queue.jobs set locked_until = ${at(4)} where id = 9;
    update queue.jobs set status = 'queued', locked_until = null, errors = '[{"name": "LeaseExpired"}]' where id = 9;
    update queue.jobs set status = 'running', claims = 2, attempts = 2, worker = 'host:14:def', locked_until = ${at(6)} where id = 9;
    update queue.jobs set status = 'queued', locked_until = null, attempts = 1 where id = 9;`);
  const { rows } = await database.pool.query(
    "select claims, attempt, pid, is_claim, is_given_back, became, reason from chaos.changes where job_id = 9 order by at",
  );
  expect(rows).toEqual([
    { claims: 1, attempt: 1, pid: 13, is_claim: true, is_given_back: false, became: "running", reason: null },
    { claims: 1, attempt: 1, pid: 13, is_claim: false, is_given_back: false, became: "queued", reason: "LeaseExpired" },
    { claims: 2, attempt: 2, pid: 14, is_claim: true, is_given_back: false, became: "running", reason: null },
    { claims: 2, attempt: 2, pid: 14, is_claim: false, is_given_back: true, became: "queued", reason: "Released" },
  ]);
  const history = await historyOf(db, "9");
  expect(history.find((line) => line.includes("claim 1 of process 13 ends"))).toContain("queued, LeaseExpired");
});
