import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeAll, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { line, workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
const planners = ["hashjoin", "mergejoin", "nestloop", "hashagg", "sort", "material", "seqscan", "bitmapscan"];
const lanes = ["default", "other"];

/** Every way to switch the planner's methods off, all on first. */
const combinations = Array.from({ length: 2 ** planners.length }, (_, bits) =>
  planners.map((name, n) => [`enable_${name}`, (bits >> n) % 2 === 0 ? "on" : "off"] as const),
);

beforeAll(async () => {
  await database.pool.query("alter table queue.jobs set (autovacuum_enabled = off)");
  await queue.enqueueMany(
    kyselyOn(database.pool),
    Array.from({ length: 100 }, (_, n) => ({ kind: "a", payload: n, options: { lane: lanes[n % 2] } })),
  );
});

describe.each(["never analysed", "analysed", "analysed while it was empty"])(
  "B29: on a table that was %s a claim never exceeds its limit",
  (state) => {
    beforeAll(async () => {
      if (state === "analysed") await database.pool.query("analyze queue.jobs");
      if (state === "analysed while it was empty") {
        await database.pool.query("create table saved as table queue.jobs; delete from queue.jobs");
        await database.pool.query("vacuum analyze queue.jobs");
        await database.pool.query("insert into queue.jobs select * from saved");
      }
    });

    test(`under ${combinations.length} combinations of plan settings, custom and generic`, async () => {
      await using session = await openSession(database.url);
      const worker = workerOn(session.executor);
      for (const [index, settings] of combinations.entries()) {
        const plans = index % 3 === 0 ? "force_generic_plan" : "auto";
        await session.query(
          `begin; set local jit = off; set local plan_cache_mode = ${plans}; ${settings.map(([name, value]) => `set local ${name} = ${value}`).join("; ")}`,
        );
        const shown = JSON.stringify(settings.filter(([, value]) => value === "off"));
        expect(await worker.claim({ limit: 1, lanes }), shown).toHaveLength(1);
        expect(await worker.claim({ limit: 5, lanes }), shown).toHaveLength(5);
        const groups = [
          { take: 2, lines: [line("default")] },
          { take: 4, lines: [line("other")] },
        ];
        expect(await worker.claim({ limit: 5, groups }), shown).toHaveLength(5);
        expect(await session.query("select count(*)::int as running from queue.jobs where status = 'running'")).toEqual([{ running: 11 }]);
        await session.query("rollback");
      }
    });
  },
);
