import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { long: job<{ n: number }>({ maxAttempts: 1 }), twice: job() } });

describe("what a worker gives back when it stops", () => {
  test("is begun by another that sleeps, at once: it is rung", async () => {
    const never = new Promise<void>(() => {});
    const stuck = await workers.start({ queue, handlers: { twice: () => never } });
    await queue.enqueue(workers.db, "twice", null);
    await stuck.events.until("job.started");
    const other = await workers.start({
      queue,
      pollInterval: "10m",
      listener: clientListener(workers.database.url),
      handlers: { twice: () => {} },
    });
    await stuck.worker.stop({ grace: 0 });
    expect(await other.events.until("job.completed")).toMatchObject({ attempt: 2 });
  });
});

describe("a claim that was given up and is carried out later", () => {
  test("costs no job its only attempt: what it took is given back", async () => {
    const db = workers.open({ max: 2 });
    const { events } = await workers.start({
      queue,
      db,
      listener: clientListener(workers.database.url),
      lease: 400,
      heartbeat: 100,
      handlers: { long: () => {} },
    });
    const admin = queue.admin(workers.db);
    let enqueued = 0;
    for (let round = 0; round < 4; round++) {
      const gate = createGate();
      const held = Promise.all([1, 2].map(() => db.connection().execute(() => gate.pass())));
      await gate.reached;
      const errors = events.of("worker.error").length;
      await events.until("worker.error", errors + 1);
      await admin.pause("default");
      await queue.enqueueMany(
        workers.db,
        Array.from({ length: 5 }, (_, n) => ({ kind: "long" as const, payload: { n } })),
      );
      enqueued += 5;
      await admin.resume("default");
      gate.open();
      await held;
      await events.until("job.completed", enqueued);
    }
    expect(events.of("job.dead")).toEqual([]);
    expect(await workers.sql("select distinct status, attempts from queue.all_jobs")).toEqual([{ status: "done", attempts: 1 }]);
  });
});
