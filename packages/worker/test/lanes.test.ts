import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { mail: job<{ n: number }>({ lane: "mail" }), report: job<{ n: number }>(), slow: job({ lane: "slow" }) },
});

describe("lanes", () => {
  test("are all served when none is named, also those that come to exist later", async () => {
    const { events } = await workers.start({
      queue,
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      handlers: { report: () => {} },
    });
    for (const lane of ["new one", "Ünïcödé", "~5 tricky", "cancel 1", "x".repeat(200)])
      await queue.enqueue(workers.db, "report", { n: 1 }, { lane });
    await events.until("job.completed", 5);
  });

  test("are found without a listener, too", async () => {
    const { events } = await workers.start({ queue, handlers: { report: () => {} } });
    const { id } = await queue.enqueue(workers.db, "report", { n: 1 }, { lane: "brand new", priority: 0 });
    await events.untilFor(id, "job.completed");
  });

  test.each([{ lanes: ["mail"] }, { lanes: { mail: { concurrency: 3 } } }])(
    "that are not named are left alone: $lanes",
    async ({ lanes }) => {
      const { events } = await workers.start({ queue, lanes, handlers: { mail: () => {}, report: () => {} } });
      const other = await queue.enqueue(workers.db, "report", { n: 1 });
      const mine = await queue.enqueue(workers.db, "report", { n: 2 }, { lane: "mail" });
      await queue.enqueue(workers.db, "mail", { n: 3 });
      await events.until("job.completed", 2);
      expect(await workers.job(mine.id)).toMatchObject({ status: "done" });
      expect(await workers.job(other.id)).toMatchObject({ status: "queued", claims: 0 });
    },
  );

  test("with a ceiling never run more at a time, and as many as they may", async () => {
    let running = 0;
    let most = 0;
    const three = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 10,
      lanes: { mail: { concurrency: 3 }, default: { concurrency: 10 } },
      handlers: {
        mail: async () => {
          running += 1;
          most = Math.max(most, running);
          if (running === 3) three.open();
          await three.pass();
          running -= 1;
        },
        report: () => {},
      },
    });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 40 }, (_, n) => ({ kind: n % 2 === 0 ? "mail" : "report", payload: { n } }) as const),
    );
    await events.until("job.completed", 40);
    expect(most).toBe(3);
  });

  test("that are full are claimed from again as soon as there is room, without a poll", async () => {
    const gates = [createGate(), createGate()];
    const { events } = await workers.start({
      queue,
      pollInterval: "60s",
      listener: clientListener(workers.database.url),
      lanes: { mail: { concurrency: 1 }, default: { concurrency: 5 } },
      handlers: { mail: ({ payload }) => gates[payload.n]?.pass(), report: () => {} },
    });
    await queue.enqueueMany(workers.db, [
      { kind: "mail", payload: { n: 0 } },
      { kind: "mail", payload: { n: 1 } },
    ]);
    await gates[0]?.reached;
    // A claim while the lane is full, which finds less than it has room for.
    await queue.enqueue(workers.db, "report", { n: 9 });
    await events.until("job.completed");
    gates[0]?.open();
    await gates[1]?.reached;
    gates[1]?.open();
    await events.until("job.completed", 3);
  });

  test("that are full do not keep the others waiting", async () => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      lanes: { slow: { concurrency: 1 }, default: { concurrency: 5 } },
      concurrency: 2,
      handlers: { slow: () => gate.pass(), report: () => {} },
    });
    for (let n = 0; n < 5; n++) await queue.enqueue(workers.db, "slow", null);
    await gate.reached;
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 20 }, (_, n) => ({ kind: "report", payload: { n } })),
    );
    await events.until("job.completed", 20);
    gate.open();
    await events.until("job.completed", 25);
  });
});

describe("a paused lane", () => {
  test("is not claimed from, and resumes at once", async () => {
    const listener = clientListener(workers.database.url);
    const admin = queue.admin(workers.db);
    const { events } = await workers.start({ queue, pollInterval: "60s", listener, handlers: { mail: () => {}, report: () => {} } });
    await admin.pause("mail");
    const { id } = await queue.enqueue(workers.db, "mail", { n: 1 });
    await queue.enqueue(workers.db, "report", { n: 2 });
    await events.until("job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "queued", claims: 0 });
    await admin.resume("mail");
    await events.untilFor(id, "job.completed");
  });
});

describe("priorities", () => {
  test("decide the order in a lane, and the due time among equals", async () => {
    const order: number[] = [];
    await queue.enqueueMany(
      workers.db,
      ([5, 9, 0, 5, 1] as const).map((priority, n) => ({ kind: "report", payload: { n }, options: { priority } }) as const),
    );
    const { events } = await workers.start({ queue, concurrency: 1, handlers: { report: ({ payload }) => void order.push(payload.n) } });
    await events.until("job.completed", 5);
    expect(order).toEqual([2, 4, 0, 3, 1]);
  });

  test("hold over all lanes", async () => {
    const order: string[] = [];
    for (const [lane, priority] of [
      ["x", 5],
      ["y", 1],
      ["z", 9],
      ["w", 0],
    ] as const)
      await queue.enqueue(workers.db, "report", { n: 1 }, { lane, priority });
    const { events } = await workers.start({ queue, concurrency: 1, handlers: { report: ({ lane }) => void order.push(lane) } });
    await events.until("job.completed", 4);
    expect(order).toEqual(["w", "y", "x", "z"]);
  });

  test("let no lane starve another of the same priority", async () => {
    const order: string[] = [];
    for (const lane of ["x", "y"])
      await queue.enqueueMany(
        workers.db,
        Array.from({ length: 20 }, (_, n) => ({ kind: "report", payload: { n }, options: { lane } })),
      );
    const { events } = await workers.start({ queue, concurrency: 1, handlers: { report: ({ lane }) => void order.push(lane) } });
    await events.until("job.completed", 40);
    expect(order.slice(0, 20).filter((lane) => lane === "x").length).toBeGreaterThanOrEqual(5);
    expect(order.slice(0, 20).filter((lane) => lane === "y").length).toBeGreaterThanOrEqual(5);
  });
});
