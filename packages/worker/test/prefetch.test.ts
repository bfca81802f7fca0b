import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>(), once: job<{ n: number }>({ maxAttempts: 1 }) } });
const concurrency = 5;

async function enqueueSome(count: number, kind: "a" | "once" = "a") {
  await queue.enqueueMany(
    workers.db,
    Array.from({ length: count }, (_, n) => ({ kind, payload: { n } })),
  );
}

/** Handlers that are quick up to job `quick`, and from then on wait for the gate; how many of them ran at once, at most. */
function turningSlow(quick: number) {
  const gate = createGate();
  const seen = { running: 0, most: 0 };
  const handler = async ({ payload }: { readonly payload: { readonly n: number } }) => {
    seen.running += 1;
    seen.most = Math.max(seen.most, seen.running);
    if (payload.n < quick) await Promise.resolve();
    else await gate.pass();
    seen.running -= 1;
  };
  return { gate, seen, handler };
}

/** In how many statements all that is done was settled; each of them claims as much as it settles. */
async function settlements(): Promise<number> {
  const rows = await workers.sql<{ count: string }>("select count(distinct xmin::text) as count from queue.jobs_archive");
  return Number(rows[0]?.count);
}

describe("jobs that wait for a slot", () => {
  test("share statements where handlers are quick, and no more handlers run at once than there are slots", async () => {
    const { seen, handler } = turningSlow(Number.POSITIVE_INFINITY);
    await enqueueSome(3_000);
    const { events } = await workers.start({ queue, concurrency, handlers: { a: handler } });
    await events.until("job.completed", 3_000, 20_000);
    expect(seen.most).toBe(concurrency);
    expect(await settlements()).toBeLessThan(3_000 / concurrency / 2);
    expect(await workers.sql("select distinct attempts, claims from queue.all_jobs")).toEqual([{ attempts: 1, claims: 1 }]);
  });

  test.each([
    ["when it is switched off", { prefetch: false }, "a"],
    ["by a worker that has a kind of a single attempt, which a death of the process would spend", {}, "once"],
  ] as const)("are not claimed %s", async (_when, options, kind) => {
    await enqueueSome(500, kind);
    const { events } = await workers.start({ queue, concurrency, ...options, handlers: { a: () => {}, once: () => {} } });
    await events.until("job.completed", 500, 20_000);
    expect(await settlements()).toBeGreaterThanOrEqual(500 / concurrency);
  });

  test("are given back when handlers turn out to be slow, unspent, and begun by another worker that slept", async () => {
    const { gate, handler } = turningSlow(500);
    await enqueueSome(1_200);
    const slow = await workers.start({ queue, concurrency, handlers: { a: handler } });
    await slow.events.until("job.released", 1, 20_000);
    const other = await workers.start({
      queue,
      pollInterval: "10m",
      listener: clientListener(workers.database.url),
      handlers: { a: () => {} },
    });
    await other.events.until("job.completed", 700 - concurrency, 20_000);
    gate.open();
    await workers.untilJobs("done", 1_200);
    expect(await workers.sql("select distinct attempts from queue.all_jobs")).toEqual([{ attempts: 1 }]);
  });

  test("are given back at once when the worker stops, unspent, and those that run are waited for", async () => {
    const { gate, handler } = turningSlow(500);
    await enqueueSome(1_200);
    const { worker, events } = await workers.start({ queue, concurrency, handlers: { a: handler } });
    await gate.reached;
    const stopped = worker.stop();
    await workers.sqlUntil(`select where (select count(*) from queue.jobs where status = 'running') between 1 and ${concurrency}`);
    gate.open();
    await stopped;
    const done = events.of("job.completed").length;
    expect(events.of("job.started")).toHaveLength(done);
    expect(events.of("job.released").length).toBeGreaterThan(0);
    await workers.untilJobs("queued", 1_200 - done);
    expect(await workers.sql("select distinct attempts from queue.all_jobs where status = 'queued'")).toEqual([{ attempts: 0 }]);
  });
});
