import { expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();
const rounds = 30;
const options = { lease: 500, heartbeat: 150, sweepInterval: 100, pollInterval: 100, concurrency: 3 };

test(`B101: a worker that is killed at a random moment, ${rounds} times, enters every job exactly once`, { timeout: 90_000 }, async () => {
  const entries: string[] = [];
  // The next one starts while the last one works, so that most of the time is not spent on starting.
  let next = e2e.work({ options });
  for (let round = 0; round < rounds; round++) {
    const child = next;
    const batch = Array.from({ length: 3 }, (_, n) => ({ entry: `${round}/${n}`, ms: Math.random() * 20 }));
    entries.push(...batch.map(({ entry }) => entry));
    await queue.enqueueMany(
      e2e.db,
      batch.map((payload) => ({ kind: "enter", payload, options: { key: payload.entry } }) as const),
    );
    await child.until("handling");
    next = e2e.work({ options });
    // From the begin of a handler to well after its commit, and anything between.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    child.signal("SIGKILL");
    await child.ended;
  }
  await e2e.sqlUntil(`select from queue.all_jobs where status = 'done' having count(*) = ${entries.length}`, 30_000);
  const ledger = await e2e.sql<{ entry: string }>("select entry from ledger");
  expect(ledger.map(({ entry }) => entry).toSorted()).toEqual(entries.toSorted());
  // The kills must have hit something, or this proves nothing.
  expect(await e2e.sql("select from queue.all_jobs where attempts > 1")).not.toHaveLength(0);
  expect(await e2e.sql("select from queue.jobs")).toEqual([]);
});
