import { expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();
const hourMs = 3_600_000;

test("B83: workers whose clocks are an hour off steal no lease, and start everything when the database says that it is due", async () => {
  const options = { lease: 2_000, heartbeat: 500, sweepInterval: 200, pollInterval: 200 };
  const children = await Promise.all(
    [0, hourMs, -hourMs].map((clockOffMs, n) => e2e.startWork({ clockOffMs, listens: n !== 2, options: { ...options, concurrency: 3 } })),
  );
  const long = await queue.enqueue(e2e.db, "work", { ms: 4_000 });
  await Promise.race(children.map((child) => child.until("handling", { id: long.id })));
  const soon = await queue.enqueue(e2e.db, "quick", { n: 1 }, { delay: 1_000 });
  const later = await queue.enqueue(e2e.db, "quick", { n: 2 }, { runAt: new Date(Date.now() + 1_200) });
  const now = await queue.enqueue(e2e.db, "quick", { n: 3 });
  await Promise.race(children.map((child) => child.until("job.completed", { id: long.id })));
  const rows = await e2e.sql<{ id: string; attempts: number; late: number }>(
    "select id::text, attempts, extract(epoch from started_at - run_at)::float8 as late from queue.all_jobs where status = 'done'",
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual([long, soon, later, now].map(({ id }) => id).toSorted());
  for (const { attempts, late } of rows) {
    expect(attempts).toBe(1);
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThan(1);
  }
  expect(children.flatMap((child) => child.of("job.lease-lost"))).toEqual([]);
});
