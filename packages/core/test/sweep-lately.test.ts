import { createWorkerStatements } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { explain, pagesTouched } from "./support/explain.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const statements = createWorkerStatements("queue");
const all = { limit: 100, except: "{}", withinMs: null };
const lately = { ...all, withinMs: 60_000 };

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

describe("a sweep of what was claimed lately", () => {
  test("returns that, and leaves what was claimed before to a sweep of everything", async () => {
    const worker = workerOn(kyselyOn(database.pool));
    await database.pool.query(
      `insert into queue.jobs (kind, status, started_at, locked_until, attempts, claims, worker)
       select 'a', 'running', clock_timestamp() - ago, clock_timestamp() - interval '1 second', 1, 1, 'gone'
         from unnest(array[interval '10 seconds', '59 seconds', '61 seconds', '1 day', null]) as ago`,
    );
    expect(await worker.run(statements.returnExpiredJobs, lately)).toHaveLength(2);
    expect(await worker.run(statements.returnExpiredJobs, all)).toHaveLength(3);
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
    await using session = await openSession(database.url);
    const pagesOf = async (input: typeof all | typeof lately) =>
      pagesTouched(await explain(session, statements.returnExpiredJobs, input, { analyze: true }));
    expect(await pagesOf(all)).toBeGreaterThan(200);
    expect(await pagesOf(lately)).toBeLessThan(30);
    await report.query("rollback");
    await database.pool.query("alter table queue.jobs reset (autovacuum_enabled)");
  });
});
