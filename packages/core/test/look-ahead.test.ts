import { createWorkerStatements } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { explain, pagesTouched } from "./support/explain.js";
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

  test("passes nothing that was claimed while a snapshot is held", async () => {
    await database.pool.query("alter table queue.jobs set (autovacuum_enabled = off)");
    await using report = await openSession(database.url);
    await report.query("begin isolation level repeatable read");
    await report.query("select 1 from queue.jobs");
    await database.pool.query("insert into queue.jobs (kind) select 'a' from generate_series(1, 20000)");
    await database.pool.query("insert into queue.jobs (kind, lane) values ('a', 'zoo')");
    await database.pool.query("delete from queue.jobs where lane = 'default'");
    const known = JSON.stringify([{ lane: "default", priority: 5 }]);
    await using session = await openSession(database.url);
    const pagesOf = async (given: string) =>
      pagesTouched(await explain(session, statements.lookAhead, { known: given, kinds: "{a}" }, { analyze: true }));
    expect(await pagesOf("[]")).toBeGreaterThan(200);
    expect(await pagesOf(known)).toBeLessThan(60);
    await report.query("rollback");
    await database.pool.query("alter table queue.jobs reset (autovacuum_enabled)");
  });
});
