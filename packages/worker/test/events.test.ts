import { describe, expect, test } from "vitest";
import { createQueue, job, PermanentError, QueueError } from "@queue/core";
import { snooze, type WorkerEvent } from "@queue/worker";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { does: job<{ what: string }>({ lane: "work", backoff: { base: 1 }, maxAttempts: 2 }) } });

const outcomes: Record<string, readonly WorkerEvent["type"][]> = {
  returns: ["job.started", "job.completed"],
  "throws once": ["job.started", "job.failed", "job.started", "job.completed"],
  "throws always": ["job.started", "job.failed", "job.started", "job.dead"],
  "throws for good": ["job.started", "job.dead"],
  "snoozes once": ["job.started", "job.snoozed", "job.started", "job.completed"],
  "is stolen": ["job.started", "job.lease-lost"],
  "is cancelled": ["job.started", "job.cancelled"],
};

function handle(rounds: Map<string, number>) {
  return async ({ id, payload: { what } }: { readonly id: string; readonly payload: { readonly what: string } }) => {
    const round = (rounds.get(id) ?? 0) + 1;
    rounds.set(id, round);
    if (what === "throws always" || (what === "throws once" && round === 1)) throw new Error(what);
    if (what === "throws for good") throw new PermanentError(what);
    if (what === "snoozes once" && round === 1) return snooze(1);
    if (what === "is stolen")
      await workers.sql("update queue.jobs set worker = 'thief', locked_until = now() + interval '1 h' where id = $1", [id]);
    if (what === "is cancelled") await queue.admin(workers.db).cancel(id);
    return undefined;
  };
}

describe("events", () => {
  test.each(Object.keys(outcomes))("of a job that %s are complete, in order, and say which job", async (what) => {
    const { events } = await workers.start({ queue, handlers: { does: handle(new Map()) } });
    const { id } = await queue.enqueue(workers.db, "does", { what });
    const expected = outcomes[what] ?? [];
    await events.untilFor(id, expected.at(-1) as "job.completed");
    // Another job, so that nothing more comes of the first.
    const next = await queue.enqueue(workers.db, "does", { what: "returns" });
    await events.untilFor(next.id, "job.completed");
    expect(events.typesFor(id)).toEqual(expected);
    let attempt = 0;
    for (const event of events.all) {
      if (!("id" in event) || event.id !== id) continue;
      if (event.type === "job.started") attempt += what === "snoozes once" && attempt === 1 ? 0 : 1;
      expect(event).toMatchObject({ id, kind: "does", lane: "work", attempt });
    }
  });

  test("say how long it took, and how long the job had waited", async () => {
    const { events } = await workers.start({ queue, handlers: { does: ({ id }) => workers.untilRunningFor(id, 100) } });
    await queue.enqueue(workers.db, "does", { what: "" });
    const started = await events.until("job.started");
    const { durationMs } = await events.until("job.completed");
    expect(durationMs).toBeGreaterThan(80);
    expect(durationMs).toBeLessThan(5_000);
    expect(started.waitedMs).toBeGreaterThanOrEqual(0);
    expect(started.waitedMs).toBeLessThan(5_000);
  });

  test("have what the handler threw as it was", async () => {
    const error = new Error("once");
    const { events } = await workers.start({ queue, handlers: { does: () => Promise.reject(error) } });
    await queue.enqueue(workers.db, "does", { what: "" });
    const dead = await events.until("job.dead");
    expect(events.of("job.failed")[0]?.error).toBe(error);
    expect(dead.error).toBe(error);
  });

  test("begin with the worker's start and end with its stop", async () => {
    const { worker, events } = await workers.start({ queue, handlers: { does: () => {} } });
    await queue.enqueue(workers.db, "does", { what: "" });
    await events.until("job.completed");
    await worker.stop();
    const types = events.all.map(({ type }) => type);
    expect(types[0]).toBe("worker.started");
    expect(types.at(-1)).toBe("worker.stopped");
    const [started, stopped] = [events.of("worker.started")[0], events.of("worker.stopped")[0]];
    expect(started?.worker).toBe(stopped?.worker);
    expect(started?.worker).not.toBe("");
  });

  test("never have a payload, and no two workers tell of one attempt", async () => {
    const started = [
      await workers.start({ queue, handlers: { does: handle(new Map()) } }),
      await workers.start({ queue, handlers: { does: handle(new Map()) } }),
    ];
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 40 }, () => ({ kind: "does", payload: { what: "returns" } }) as const),
    );
    await workers.untilJobs("done", 40);
    await expect.poll(() => started.flatMap(({ events }) => events.of("job.completed")).length, { timeout: 15_000 }).toBe(40);
    const all = started.flatMap(({ events }) => events.all);
    expect(new Set(started.flatMap(({ events }) => events.of("job.completed").map(({ id }) => id))).size).toBe(40);
    expect(JSON.stringify(all)).not.toContain("returns");
  });
});

describe("an onEvent that throws", () => {
  test("is logged, and changes nothing", async () => {
    const { worker, events, logger } = workers.create({
      queue,
      handlers: { does: handle(new Map()) },
      onEvent: () => {
        throw new Error("from a listener");
      },
    });
    await worker.start();
    const jobs = await queue.enqueueMany(
      workers.db,
      Object.keys(outcomes).map((what) => ({ kind: "does", payload: { what } })),
    );
    for (const [n, expected] of Object.values(outcomes).entries())
      await events.untilFor(jobs[n]?.id ?? "", expected.at(-1) as "job.completed");
    await worker.stop();
    const lines = logger.linesOf("error").filter(({ message }) => message.includes("onEvent"));
    expect(lines).toHaveLength(events.all.length);
    expect(lines[0]?.details).toMatchObject({ event: "worker.started" });
  });
});

describe("errors in events", () => {
  test("are ours, with the driver's as their cause, when a statement of the worker fails", async () => {
    const { events } = await workers.start({ queue, handlers: { does: () => {} } });
    await workers.sql("alter table queue.jobs rename to jobs_gone");
    try {
      const { error } = await events.until("worker.error");
      expect(QueueError.is(error, "DATABASE_ERROR") && error).toMatchObject({
        sqlState: "42P01",
        isRetryable: false,
        cause: { code: "42P01" },
      });
    } finally {
      await workers.sql("alter table queue.jobs_gone rename to jobs");
    }
    await queue.enqueue(workers.db, "does", { what: "" });
    await events.until("job.completed");
  });
});
