import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { count: job<{ n: number }>(), keyed: job<{ n: number }>() } });

describe("several workers", () => {
  test("B44: never run one job twice, and lose no lease: 2,000 jobs, four workers, a row for each run", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 2_000 }, (_, n) => ({ kind: "count", payload: { n } })),
    );
    const started = await Promise.all(
      Array.from({ length: 4 }, (_, n) =>
        workers.start({
          queue,
          db: workers.open({ max: 5 }),
          concurrency: 10 + n,
          // Two of them hear of jobs, two only look.
          ...(n % 2 === 0 ? { listener: clientListener(workers.database.url) } : {}),
          handlers: {
            count: async ({ id }) => void (await workers.db.insertInto("ledger").values({ entry: "run", job: id }).execute()),
          },
        }),
      ),
    );
    await workers.untilJobs("done", 2_000);
    expect(await workers.sql("select job, count(*) from ledger group by job having count(*) <> 1")).toEqual([]);
    expect(await workers.ledger()).toHaveLength(2_000);
    expect(await workers.sql("select id from queue.all_jobs where attempts <> 1 or claims <> 1")).toEqual([]);
    expect(started.map(({ events }) => events.of("job.completed").length).every((count) => count > 0)).toBe(true);
    // The fence is whole numbers; with a time stamp, nearly every one of these would have been lost.
    const troubles = started.flatMap(({ events }) => [...events.of("job.lease-lost"), ...events.of("worker.error")]);
    expect(troubles.map(({ type, error }) => `${type}: ${error.message}`)).toEqual([]);
  });

  test("B37: have names that no other has, on the same host, in the same process, and at every start", async () => {
    const first = workers.create({ queue, handlers: { count: () => {} } });
    const second = workers.create({ queue, handlers: { count: () => {} } });
    await Promise.all([first.worker.start(), second.worker.start()]);
    const registered = await workers.sql<{ id: string; pid: number }>("select id, pid from queue.workers");
    expect(new Set(registered.map(({ id }) => id)).size).toBe(2);
    expect(registered.every(({ pid }) => pid === process.pid)).toBe(true);
    await first.worker.stop();
    await first.worker.start();
    const names = [...first.events.of("worker.started"), ...second.events.of("worker.started")].map(({ worker }) => worker);
    expect(new Set(names).size).toBe(3);
    expect((await workers.sql("select from queue.workers")).length).toBe(2);
  });
});

describe("B62: a key whose job is running", () => {
  test.each([
    ["until-ended", 0],
    ["until-started", 1],
  ] as const)("and that holds %s takes %i of five more jobs, and another after they have ended", async (keyHolds, taken) => {
    const gate = createGate();
    const start = () => workers.start({ queue, handlers: { keyed: ({ payload }) => (payload.n === 0 ? gate.pass() : undefined) } });
    await Promise.all([start(), start()]);
    const first = await queue.enqueue(workers.db, "keyed", { n: 0 }, { key: "u", keyHolds });
    await gate.reached;
    const results = [];
    for (let n = 1; n <= 5; n++) results.push(await queue.enqueue(workers.db, "keyed", { n }, { key: "u", keyHolds, delay: "1h" }));
    expect(results.filter(({ inserted }) => inserted)).toHaveLength(taken);
    expect(new Set(results.map(({ id }) => id)).size).toBe(1);
    expect(results[0]?.id === first.id).toBe(taken === 0);
    gate.open();
    for (const { id } of results)
      await queue
        .admin(workers.db)
        .retry(id)
        .catch(() => {});
    await workers.untilJobs("done", 1 + taken);
    expect(await queue.enqueue(workers.db, "keyed", { n: 6 }, { key: "u", keyHolds })).toMatchObject({ inserted: true });
  });
});
