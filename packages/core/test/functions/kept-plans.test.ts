import { createQueue, job } from "@queue/core";
import { createWorkerStatements, type KeptPlan, runStatement, type Statement, toArrayLiteral, workerPlans } from "@queue/core/internal";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { enqueuePlans } from "../../src/functions/enqueue-plans.js";
import { createEnqueueStatements } from "../../src/store/enqueue-statements.js";
import { findFunctions } from "../../src/store/find-functions.js";
import { kyselyOn } from "../support/kysely-on.js";
import { executorOn } from "../support/session.js";

const database = useTestDatabase();
const statements = createWorkerStatements("queue");
const inserts = createEnqueueStatements("queue");
const plans = [...workerPlans("queue", statements), ...enqueuePlans("queue", inserts)];
const names = toArrayLiteral(plans.map(({ name }) => name));

const planOf = (statement: unknown) => plans.find((plan) => plan.statement === statement);
const callOf = <TInput, TRow>(statement: Statement<TInput, TRow>) => (planOf(statement) as KeptPlan).call as Statement<TInput, TRow>;

const groups = JSON.stringify([{ take: 50, lines: [{ lane: "default", priority: 5, since: null, since_id: "0" }] }]);
const claim = { groups, kinds: "{a}", limit: 50, worker: "w", leaseMs: 30_000 };
/** Jobs as `encodeRows` writes them, one for each key. */
const rowsOf = (keys: readonly (string | null)[]) =>
  JSON.stringify(
    keys.map((key, position) => ({
      position,
      kind: "a",
      lane: "default",
      priority: 5,
      max_attempts: 8,
      delay_ms: 1e9,
      run_at: null,
      payload: position,
      key,
      hold_ms: null,
      release_on: key === null ? null : "ended",
    })),
  );
const lines = JSON.stringify([{ lane: "default", priority: 5 }]);
const nothing = { ids: "{}", fences: "{}", keeps: "{}" };

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects restart identity");
});

const addJobs = (client: pg.Pool | pg.PoolClient, jobs: number) =>
  client.query(
    "insert into queue.jobs (kind, run_at, created_at) select 'a', timestamptz '2001-01-01', '2000-01-01' from generate_series(1, $1::int)",
    [jobs],
  );

async function scansOfJobs(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ scans: number }>(
    "select seq_scan::int as scans from pg_stat_xact_user_tables where relid = 'queue.jobs'::regclass",
  );
  return rows[0]?.scans ?? Number.NaN;
}

describe("functions that keep plans", () => {
  test("answer as their statements do, with the same types", async () => {
    const answers = [];
    for (const form of [<TInput, TRow>(statement: Statement<TInput, TRow>) => statement, callOf]) {
      await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.effects restart identity");
      await addJobs(database.pool, 6);
      await database.pool.query("insert into queue.jobs (kind, run_at) values ('a', timestamptz '9000-01-01')");
      const executor = executorOn(database.pool);
      const run = <TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput) => runStatement(executor, form(statement), input);
      const held = { ids: "{1,2}", fences: "{1,1}", worker: "w" };
      const requeue = (id: number) => ({ [id]: { fence: 1, status: "queued", delayMs: 1e9, attemptsBack: 0 } });
      const effect = { kind: "a", key: "charge", jobId: "0", startedBy: "4", startedClaims: 1, worker: "w", takeOver: "" };
      const answer = [
        await run(statements.claimJobs, { ...claim, limit: 5 }),
        await run(statements.beginEffect, effect),
        await run(statements.beginEffect, effect),
        await run(statements.beginEffect, { ...effect, startedClaims: 2 }),
        await run(statements.finishEffect, effect),
        await run(statements.beginEffect, effect),
        await run(statements.completeOwnJobs, { ids: "{4}", fences: "{1}", keeps: "{1000}", worker: "w" }),
        await run(statements.requeueOwnJobs, { jobs: JSON.stringify(requeue(5)), worker: "w" }),
        await run(statements.extendLeases, { ...held, leaseMs: 30_000 }),
        await run(statements.requeueJobs, { jobs: JSON.stringify(requeue(1)), worker: "w" }),
        await run(statements.completeJobs, { ids: "{2}", fences: "{1}", keeps: "{1000}", worker: "w" }),
        await run(statements.completeAndClaim, { ...claim, ids: "{3}", fences: "{1}", keeps: "{-1}" }),
        await run(statements.lookAhead, { known: "[]", kinds: "{a}" }),
        await run(statements.lookAhead, { known: lines, kinds: "{a}" }),
        await run(statements.findEnded, { ids: "{2,4,5}" }),
        await run(inserts.enqueueJobs, { rows: rowsOf([null, null]) }),
        await run(inserts.enqueueKeyedJobs, { rows: rowsOf(["k", null, "k"]) }),
        await run(inserts.enqueueKeyedJobs, { rows: rowsOf(["k"]) }),
      ];
      const ended = await database.pool.query("select id, status, kind, payload, idempotency_key from queue.all_jobs order by id");
      answers.push([answer, ended.rows]);
    }
    const [plain, called] = answers.map((answer) => withoutMoments(answer));
    expect(called).toEqual(plain);
    expect(JSON.stringify(plain)).toContain('"completed":"3"');
    expect(JSON.stringify(plain)).toContain('"inserted":false');
  });

  test("name the columns of their answers, by which a driver that changes names is undone", () => {
    for (const { call, definition } of plans) {
      const columns = [...definition.returns.matchAll(/(?<=[(,] ?)(\w+) \w+/g)].map(([, column]) => `"${column}"`);
      expect(call.sql).toContain(`select ${columns.join(", ")} from `);
    }
  });

  test("are found in every schema under the same names, by who may call them", async () => {
    const found = async (schema: string, executor = executorOn(database.pool)) =>
      (await runStatement(executor, findFunctions(schema), { names })).map(({ name }) => name).toSorted();
    const all = plans.map(({ name }) => name).toSorted();
    await migrate(kyselyOn(database.pool), { schema: 'other "$1"' });
    expect(await found("queue")).toEqual(all);
    expect(await found('other "$1"')).toEqual(all);
    expect(await found("nowhere")).toEqual([]);
    // Their bodies still name the tables of before.
    await database.pool.query(`alter schema "other ""$1""" rename to renamed`);
    expect(await found("renamed")).toEqual([]);

    const [first = ""] = all;
    const client = await database.newPool({ max: 1 }).connect();
    await client.query("begin");
    await client.query("create role of_a_test; grant usage on schema queue to of_a_test");
    await client.query(`revoke execute on function queue.${first} from public`);
    await client.query("set local role of_a_test");
    expect(await found("queue", executorOn(client))).toEqual(all.filter((name) => name !== first));
    await client.query("rollback");
    client.release();
  });

  test("plan for a full table also while it is empty", async () => {
    const client = await database.newPool({ max: 1 }).connect();
    const executor = executorOn(client);
    const everything = async () => {
      const taken = await runStatement(executor, callOf(statements.completeAndClaim), { ...claim, ...nothing });
      const ids = taken.flatMap(({ id }) => id ?? []);
      const held = { ids: `{${ids.join(",")}}`, fences: `{${ids.map(() => 1).join(",")}}`, worker: "w" };
      await runStatement(executor, callOf(statements.claimJobs), claim);
      await runStatement(executor, callOf(statements.extendLeases), { ...held, leaseMs: 1_000 });
      await runStatement(executor, callOf(statements.requeueJobs), {
        jobs: JSON.stringify(Object.fromEntries(ids.map((id) => [id, { fence: 1, status: "queued", delayMs: 1e9, attemptsBack: 0 }]))),
        worker: "w",
      });
      await runStatement(executor, callOf(statements.completeJobs), { ...held, keeps: `{${ids.map(() => 1).join(",")}}` });
      await runStatement(executor, callOf(statements.lookAhead), { known: "[]", kinds: "{a}" });
      await runStatement(executor, callOf(statements.lookAhead), { known: lines, kinds: "{a}" });
      return ids.length;
    };
    await client.query("begin");
    await client.query("alter table queue.jobs set (autovacuum_enabled = off)");
    for (let n = 0; n < 8; n++) expect(await everything()).toBe(0);
    await addJobs(client, 20_000);
    const before = await scansOfJobs(client);
    for (let n = 0; n < 3; n++) expect(await everything()).toBe(50);
    expect(await scansOfJobs(client)).toBe(before);
    await client.query("rollback");
    client.release();
  });
});

test("how a job ended is found by the archive's index, however large and new the archive is", async () => {
  const client = await database.newPool({ max: 1 }).connect();
  await client.query("begin");
  await client.query("alter table queue.jobs_archive_default set (autovacuum_enabled = off)");
  await client.query(
    `insert into queue.jobs_archive
       (id, run_at, created_at, finished_at, keep_until, claims, attempts, max_attempts, redrives, status, priority, lane, kind, errors)
     select i, now(), now(), timestamptz '2020-01-01', now(), 1, 1, 1, 0, 'done', 5, 'default', 'a', '[]' from generate_series(1, 20000) i`,
  );
  const scans = async () =>
    (await client.query("select sum(seq_scan)::int as scans from pg_stat_xact_user_tables where relname like 'jobs%'")).rows;
  const before = await scans();
  const found = await runStatement(executorOn(client), callOf(statements.findEnded), { ids: "{7,20001}" });
  expect(found).toEqual([{ id: "7", status: "done", claims: 1, worker: null }]);
  expect(await scans()).toEqual(before);
  await client.query("rollback");
  client.release();
});

describe("an enqueue", () => {
  const queue = createQueue({ jobs: { a: job<number>() } });

  test("calls them, and sends its statements where they are not there", async () => {
    for (const there of [true, false]) {
      const sent: string[] = [];
      const client = await database.newPool({ max: 1 }).connect();
      const executor = executorOn(client, sent);
      await client.query("begin");
      if (!there) for (const { definition } of enqueuePlans("queue")) await client.query(`drop function queue.${definition.name}`);
      const results = [
        await queue.enqueue(executor, "a", 1),
        await queue.enqueue(executor, "a", 2, { delay: "1h" }),
        ...(await queue.enqueueMany(executor, [
          { kind: "a", payload: 3 },
          { kind: "a", payload: 4 },
        ])),
        await queue.enqueue(executor, "a", 5, { key: "five" }),
        await queue.enqueue(executor, "a", 5, { key: "five" }),
      ];
      expect(results.map(({ inserted }) => inserted)).toEqual([true, true, true, true, true, false]);
      const written = sent.filter((sql) => !sql.includes("migrations") && !sql.includes("pg_proc"));
      const { enqueueDueJob, enqueueJob, enqueueJobs, enqueueKeyedJobs } = inserts;
      const expected = [enqueueDueJob, enqueueJob, enqueueJobs, enqueueKeyedJobs, enqueueKeyedJobs];
      expect(written).toEqual(expected.map((statement) => (there && planOf(statement)?.call.sql) || statement.sql));
      await client.query("rollback");
      client.release();
    }
  });

  test("of which somebody has dropped the function says so, undoes its transaction, and the next one goes on", async () => {
    const client = await database.newPool({ max: 1 }).connect();
    const executor = executorOn(client);
    await queue.enqueue(executor, "a", 1, { key: "before" });
    await client.query("begin");
    await client.query(`drop function queue.${enqueuePlans("queue").at(-1)?.name}`);
    await expect(queue.enqueue(executor, "a", 2, { key: "after" })).rejects.toMatchObject({ code: "42883" });
    await client.query("rollback");
    await client.query("begin");
    expect(await queue.enqueue(executor, "a", 2, { key: "after" })).toMatchObject({ inserted: true });
    await client.query("rollback");
    client.release();
  });

  test("outside a transaction sends the statement at once when the function is gone", async () => {
    const pool = database.newPool({ max: 1 });
    const plan = enqueuePlans("queue").at(-1) as KeptPlan;
    await queue.enqueue(executorOn(pool), "a", 1, { key: "before" });
    const { rows } = await pool.query<{ text: string }>("select pg_get_functiondef(oid) as text from pg_proc where proname = $1", [
      plan.name,
    ]);
    await pool.query(`drop function queue.${plan.name}`);
    expect(await queue.enqueue(executorOn(pool), "a", 2, { key: "after" })).toMatchObject({ inserted: true });
    await pool.query(rows[0]?.text ?? "");
  });
});

/** What two runs cannot have in common. */
function withoutMoments(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === "now" || key === "due_in_ms" ? typeof inner : inner));
}
