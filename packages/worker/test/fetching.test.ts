import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>(), b: job<{ n: number }>(), mail: job() } });
const hostileQueue = createQueue({
  jobs: { mail: job(), constructor: job(), toString: job(), ["__proto__"]: job(), hasOwnProperty: job() },
});
const hostileKinds = ["constructor", "toString", "__proto__", "hasOwnProperty"] as const;

describe("jobs that are there", () => {
  test("a thousand at once need one wake-up", async () => {
    const listener = clientListener(workers.database.url);
    const { events } = await workers.start({ queue, pollInterval: "60s", listener, concurrency: 7, handlers: { a: () => {} } });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 1_000 }, (_, n) => ({ kind: "a", payload: { n } })),
    );
    await events.until("job.completed", 1_000, 20_000);
    expect(listener.heard).toEqual([expect.stringMatching(/^5@\d+ default$/)]);
  });

  test("are all claimed at the start of a worker that hears of nothing", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 1_200 }, (_, n) => ({ kind: "a", payload: { n } })),
    );
    const { events } = await workers.start({ queue, pollInterval: "60s", concurrency: 50, handlers: { a: () => {} } });
    await events.until("job.completed", 1_200, 20_000);
  });

  test("are found however they came: by plain SQL, in any transaction", async () => {
    const { events } = await workers.start({
      queue,
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      handlers: { a: () => {} },
    });
    await workers.sql(`insert into queue.jobs (kind, payload) values ('a', '{"n": 1}'), ('a', '{"n": 2}')`);
    await workers.sql(`insert into queue.jobs (kind, payload, lane, priority) values ('a', '{"n": 3}', 'by hand', 0)`);
    await events.until("job.completed", 3);
  });

  test("are found by a worker of a pool that is busy when it starts, and of a lane that only looks can find", async () => {
    await queue.enqueue(workers.db, "a", { n: 1 }, { lane: "found by looking", priority: 9 });
    const { events } = await workers.start({ queue, pollInterval: "60s", handlers: { a: () => {} } });
    await events.until("job.completed");
  });
});

describe("B36: a kind without a handler", () => {
  test("is left alone, and done by a worker that has one", async () => {
    const old = await workers.start({ queue, handlers: { a: () => {} } });
    const { id } = await queue.enqueue(workers.db, "b", { n: 1 });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 50 }, (_, n) => ({ kind: "a", payload: { n } })),
    );
    await old.events.until("job.completed", 50);
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 0, claims: 0, locked_until: null });
    expect((await queue.admin(workers.db).health()).kindsWithoutWorker).toEqual(["b"]);
    const next = await workers.start({ queue, handlers: { b: () => {} } });
    await next.events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  });

  test("does not keep others waiting that came after it, however many there are of it", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 2_000 }, (_, n) => ({ kind: "b", payload: { n } })),
    );
    await queue.enqueue(workers.db, "a", { n: 1 });
    const { events } = await workers.start({ queue, concurrency: 2, handlers: { a: () => {} } });
    await events.until("job.completed");
  });

  test("is what a worker without any handler has: it claims nothing", async () => {
    await queue.enqueue(workers.db, "a", { n: 1 });
    const { worker } = await workers.start({ queue, handlers: {} });
    await worker.stop();
    await workers.create({ queue, handlers: { a: undefined } }).worker.runUntilIdle();
    expect(await workers.jobs()).toMatchObject([{ status: "queued", claims: 0 }]);
  });
});

describe("B15: kinds named like members of every object", () => {
  test("are not taken for kinds with a handler", async () => {
    for (const kind of hostileKinds) await hostileQueue.enqueue(workers.db, kind, null);
    const { events } = await workers.start({ queue: hostileQueue, handlers: { mail: () => {} } as never });
    await hostileQueue.enqueue(workers.db, "mail", null);
    await events.until("job.completed");
    expect((await workers.jobs()).filter(({ kind }) => kind !== "mail").map(({ status, claims }) => [status, claims])).toEqual(
      hostileKinds.map(() => ["queued", 0]),
    );
    expect((await hostileQueue.admin(workers.db).health()).kindsWithoutWorker.toSorted()).toEqual(hostileKinds.toSorted());
  });

  test("have their handlers called when they have some", async () => {
    const called: string[] = [];
    const handler = ({ kind }: { readonly kind: string }) => void called.push(kind);
    const { events } = await workers.start({
      queue: hostileQueue,
      handlers: { constructor: handler, toString: handler, ["__proto__"]: handler, hasOwnProperty: handler },
    });
    for (const kind of hostileKinds) await hostileQueue.enqueue(workers.db, kind, null);
    await events.until("job.completed", 4);
    expect(called.toSorted()).toEqual(hostileKinds.toSorted());
  });
});

describe("B100: a job in a transaction", () => {
  const start = () =>
    workers.start({ queue, pollInterval: "60s", listener: clientListener(workers.database.url), handlers: { a: () => {}, b: () => {} } });

  test("is not seen before the transaction commits, and starts as soon as it does", async () => {
    const { events } = await start();
    let committedAt = Number.NaN;
    await workers.db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "a", { n: 1 });
      // Another job goes all the way while the transaction is open.
      await queue.enqueue(workers.db, "b", { n: 2 });
      await events.until("job.completed");
      committedAt = performance.now();
    });
    await events.until("job.started", 2);
    expect(performance.now() - committedAt).toBeLessThan(300);
    expect(events.of("job.started").map(({ kind }) => kind)).toEqual(["b", "a"]);
  });

  test("that is rolled back never was, in part or as a whole", async () => {
    const listener = clientListener(workers.database.url);
    const { events } = await workers.start({ queue, pollInterval: "60s", listener, handlers: { a: () => {}, b: () => {} } });
    await workers.db
      .transaction()
      .execute(async (trx) => {
        await queue.enqueue(trx, "a", { n: 1 });
        throw new Error("undo");
      })
      .catch(() => {});
    const trx = await workers.db.startTransaction().execute();
    const saved = await trx.savepoint("inner").execute();
    await queue.enqueue(saved, "a", { n: 2 });
    await saved.rollbackToSavepoint("inner").execute();
    await queue.enqueue(trx, "b", { n: 3 });
    await trx.commit().execute();
    await events.until("job.completed");
    expect((await workers.jobs()).map(({ kind }) => kind)).toEqual(["b"]);
    expect(listener.heard).toEqual([expect.stringMatching(/^5@\d+ default$/)]);
  });
});
