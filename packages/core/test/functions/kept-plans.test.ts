import { createWorkerStatements, type KeptPlan, keptPlans, runStatement, type Statement, toArrayLiteral } from "@queue/core/internal";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import type pg from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { findFunctions } from "../../src/store/find-functions.js";
import { kyselyOn } from "../support/kysely-on.js";
import { executorOn } from "../support/session.js";

const database = useTestDatabase();
const statements = createWorkerStatements("queue");
const plans = keptPlans("queue", statements);
const names = toArrayLiteral(plans.map(({ name }) => name));

const callOf = <TInput, TRow>(statement: Statement<TInput, TRow>): Statement<TInput, TRow> =>
  (plans.find((plan) => plan.statement === statement) as KeptPlan).call as Statement<TInput, TRow>;

const groups = JSON.stringify([{ take: 50, lines: [{ lane: "default", priority: 5, since: null, since_id: "0" }] }]);
const claim = { groups, kinds: "{a}", limit: 50, worker: "w", leaseMs: 30_000 };
const nothing = { ids: "{}", fences: "{}", keeps: "{}" };

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive restart identity");
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
      await database.pool.query("truncate queue.jobs, queue.jobs_archive restart identity");
      await addJobs(database.pool, 4);
      await database.pool.query("insert into queue.jobs (kind, run_at) values ('a', timestamptz '9000-01-01')");
      const executor = executorOn(database.pool);
      const run = <TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput) => runStatement(executor, form(statement), input);
      const held = { ids: "{1,2}", fences: "{1,1}", worker: "w" };
      const requeue = (id: number) => ({ [id]: { fence: 1, status: "queued", delayMs: 1e9, attemptsBack: 0 } });
      const answer = [
        await run(statements.claimJobs, { ...claim, limit: 3 }),
        await run(statements.extendLeases, { ...held, leaseMs: 30_000 }),
        await run(statements.requeueJobs, { jobs: JSON.stringify(requeue(1)), worker: "w" }),
        await run(statements.completeJobs, { ids: "{2}", fences: "{1}", keeps: "{1000}", worker: "w" }),
        await run(statements.completeAndClaim, { ...claim, ids: "{3}", fences: "{1}", keeps: "{-1}" }),
        await run(statements.lookAhead, { kinds: "{a}" }),
      ];
      const ended = await database.pool.query("select id, status from queue.jobs_archive");
      answers.push([answer, ended.rows]);
    }
    const [plain, called] = answers.map((answer) => withoutMoments(answer));
    expect(called).toEqual(plain);
    expect(JSON.stringify(plain)).toContain('"completed":"3"');
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
      await runStatement(executor, callOf(statements.lookAhead), { kinds: "{a}" });
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

/** What two runs cannot have in common. */
function withoutMoments(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) => (key === "now" || key === "due_in_ms" ? typeof inner : inner));
}
