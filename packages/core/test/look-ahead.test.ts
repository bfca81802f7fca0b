import { createWorkerStatements } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const statements = createWorkerStatements("queue");

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

interface Line {
  readonly lane: string;
  readonly priority: number;
}

const keyOf = ({ lane, priority }: Line) => `${priority} ${lane}`;
const line = fc.record({ lane: fc.constantFrom("a", "a ", "A", "b", "\u00e9", "~", "default"), priority: fc.constantFrom(0, 5, 9) });
const lines = fc.uniqueArray(line, { selector: keyOf, maxLength: 8 });

describe("a look ahead with lines that are known", () => {
  test("finds those and all others that have queued jobs, each once, whatever lies between them", async () => {
    const worker = workerOn(kyselyOn(database.pool));
    await fc.assert(
      fc.asyncProperty(lines, lines, async (queued, known) => {
        await database.pool.query("truncate queue.jobs");
        await database.pool.query(
          "insert into queue.jobs (kind, lane, priority) select 'a', lane, priority from jsonb_to_recordset($1) as l(lane text, priority int2)",
          [JSON.stringify([...queued, ...queued])],
        );
        const found = (await worker.lookAhead(["a"], known)).map(keyOf);
        expect(found.toSorted()).toEqual([...new Set([...queued, ...known].map(keyOf))].toSorted());
      }),
      { numRuns: 60 },
    );
  });

  test("passes nothing that was claimed while a snapshot is held, nor does a look for the next due time", async () => {
    await database.pool.query("alter table queue.jobs set (autovacuum_enabled = off)");
    await using report = await openSession(database.url);
    await report.query("begin isolation level repeatable read");
    await report.query("select 1 from queue.jobs");
    await database.pool.query("insert into queue.jobs (kind) select 'a' from generate_series(1, 20000)");
    await database.pool.query("insert into queue.jobs (kind, lane) values ('a', 'zoo')");
    await database.pool.query("delete from queue.jobs where lane = 'default'");
    const known = JSON.stringify([{ lane: "default", priority: 5 }]);
    expect(await pagesOf(statements.lookAhead.sql, statements.lookAhead.bind({ known: "[]", kinds: "{a}" }))).toBeGreaterThan(200);
    expect(await pagesOf(statements.lookAhead.sql, statements.lookAhead.bind({ known, kinds: "{a}" }))).toBeLessThan(60);
    expect(await pagesOf(statements.findNextDue.sql, statements.findNextDue.bind({ lines: known, kinds: "{a}" }))).toBeLessThan(30);
    await report.query("rollback");
    await database.pool.query("alter table queue.jobs reset (autovacuum_enabled)");
  });
});

describe("a sweep of what was claimed lately", () => {
  test("returns that, and leaves what was claimed before to a sweep of everything", async () => {
    const worker = workerOn(kyselyOn(database.pool));
    await database.pool.query(
      `insert into queue.jobs (kind, status, started_at, locked_until, attempts, claims, worker)
       select 'a', 'running', clock_timestamp() - ago, clock_timestamp() - interval '1 second', 1, 1, 'gone'
         from unnest(array[interval '10 seconds', '59 seconds', '61 seconds', '1 day', null]) as ago`,
    );
    const sweep = (withinMs: number | null) => worker.run(statements.returnExpiredJobs, { limit: 100, except: "{}", withinMs });
    expect(await sweep(60_000)).toHaveLength(2);
    expect(await sweep(null)).toHaveLength(3);
  });

  test("passes nothing that ran before while a snapshot is held", async () => {
    await database.pool.query("alter table queue.jobs set (autovacuum_enabled = off)");
    await using report = await openSession(database.url);
    await report.query("begin isolation level repeatable read");
    await report.query("select 1 from queue.jobs");
    await database.pool.query(
      "insert into queue.jobs (kind, status, started_at) select 'a', 'running', clock_timestamp() - interval '2 minutes' from generate_series(1, 20000)",
    );
    await database.pool.query("delete from queue.jobs");
    const { sql, bind } = statements.returnExpiredJobs;
    expect(await pagesOf(sql, bind({ limit: 100, except: "{}", withinMs: null }))).toBeGreaterThan(200);
    expect(await pagesOf(sql, bind({ limit: 100, except: "{}", withinMs: 60_000 }))).toBeLessThan(30);
    await report.query("rollback");
    await database.pool.query("alter table queue.jobs reset (autovacuum_enabled)");
  });
});

/** How many pages a statement touches, as it is planned for its parameters. */
async function pagesOf(sql: string, parameters: readonly unknown[]): Promise<number> {
  const { rows } = await database.pool.query<{ "QUERY PLAN": [{ Plan: Record<string, number> }] }>(
    `explain (analyze, buffers, format json) ${sql}`,
    [...parameters],
  );
  const plan = rows[0]?.["QUERY PLAN"][0].Plan ?? {};
  return (plan["Shared Hit Blocks"] ?? Number.NaN) + (plan["Shared Read Blocks"] ?? Number.NaN);
}
