import { expect, test } from "vitest";
import type { ProduceSettings } from "../src/processes/produce.js";
import { startChild } from "../src/support/child-process.js";
import { useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();
const transactions = 150;

test("two apps, one queue: what producers commit is done exactly once by three workers, and what they roll back never was", async () => {
  const workers = await Promise.all(
    [0, 1, 2].map((n) => e2e.startWork({ listens: n !== 2, options: { concurrency: 4, pollInterval: 100 } })),
  );
  const producers = ["shop", "admin"].map((name) =>
    startChild("produce", { E2E_PRODUCE: JSON.stringify({ url: e2e.url, name, transactions } satisfies ProduceSettings) }),
  );
  const committed = (transactions * 2 * 2) / 3;
  for (const producer of producers) expect((await producer.ended).code).toBe(0);
  await e2e.sqlUntil(`select from queue.all_jobs where status = 'done' having count(*) = ${committed}`);

  const entries = async (table: string) =>
    (await e2e.sql<{ entry: string }>(`select entry from ${table} order by entry`)).map(({ entry }) => entry);
  expect(await entries("orders")).toHaveLength(committed);
  expect(await entries("ledger")).toEqual(await entries("orders"));
  expect(await e2e.sql("select from queue.all_jobs where attempts <> 1")).toEqual([]);
  const shares = workers.map((worker) => worker.of("job.completed").length);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(committed);
  expect(Math.min(...shares)).toBeGreaterThan(0);
  for (const worker of workers) {
    worker.signal("SIGTERM");
    expect((await worker.ended).code).toBe(0);
    expect(worker.complaints()).toBe("");
  }
});
