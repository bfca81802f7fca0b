import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate, untilAborted } from "./support/gate.js";
import { type TestWorkerOptions, useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: { long: job({ backoff: { base: 1 } }), unkept: job({ backoff: { base: 1 }, keep: false }), other: job() },
});

describe.each([
  ["with a listener", true],
  ["without one", false],
])("B98: a running job that is cancelled, %s", (_how, listens) => {
  function options(): Pick<TestWorkerOptions<typeof queue.jobs>, "queue" | "listener" | "heartbeat" | "lease"> {
    if (!listens) return { queue, heartbeat: 100, lease: 400 };
    return { queue, listener: clientListener(workers.database.url), heartbeat: "10s", lease: "30s" };
  }

  test("has its signal aborted, within a heartbeat at the latest, and says so", async () => {
    const begun = createGate();
    let reason: unknown;
    const { events } = await workers.start({
      ...options(),
      handlers: {
        long: async (_job, { signal }) => {
          begun.open();
          await begun.pass();
          reason = await untilAborted(signal);
          throw reason;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await begun.reached;
    const cancelledAt = performance.now();
    expect(await queue.admin(workers.db).cancel(id)).toMatchObject({ id, status: "cancelled" });
    await events.until("job.cancelled");
    expect(performance.now() - cancelledAt).toBeLessThan(1_000);
    expect(QueueError.is(reason, "JOB_CANCELLED") && reason.jobId).toBe(id);
    expect(await workers.job(id)).toMatchObject({ status: "cancelled", attempts: 1 });
    expect(events.typesFor(id)).toEqual(["job.started", "job.cancelled"]);
  });

  test.each([
    ["returns", () => Promise.resolve()],
    ["throws with attempts left", () => Promise.reject(new Error("late"))],
  ])("stays cancelled when its handler ignores the signal and %s", async (_what, end) => {
    const gate = createGate();
    const { events } = await workers.start({
      ...options(),
      handlers: {
        long: async () => {
          await gate.pass();
          await end();
        },
        other: () => {},
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    await queue.admin(workers.db).cancel(id);
    gate.open();
    await events.until("job.cancelled");
    await queue.enqueue(workers.db, "other", null);
    await events.until("job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "cancelled", attempts: 1, claims: 1, last_error: null });
    expect(events.typesFor(id)).toEqual(["job.started", "job.cancelled"]);
  });

  test("is cancelled or done, but not both, when its handler returns at that moment; and the answer agrees", async () => {
    const gates = Array.from({ length: 40 }, () => createGate());
    let next = 0;
    const { events } = await workers.start({ ...options(), concurrency: 40, handlers: { long: () => gates[next++]?.pass() } });
    const jobs = await queue.enqueueMany(
      workers.db,
      gates.map(() => ({ kind: "long", payload: null })),
    );
    await events.until("job.started", 40);
    const answers = await Promise.all(
      jobs.map(async ({ id }, n) => {
        if (n % 2 === 0) gates[n]?.open();
        const answer = await queue
          .admin(workers.db)
          .cancel(id)
          .catch((error: unknown) => error);
        gates[n]?.open();
        return answer;
      }),
    );
    await expect.poll(() => events.of("job.completed").length + events.of("job.cancelled").length, { timeout: 15_000 }).toBe(40);
    for (const [n, { id }] of jobs.entries()) {
      const { status } = await workers.job(id);
      const answer = answers[n];
      if (QueueError.is(answer, "JOB_STATE")) expect([status, answer.status]).toEqual(["done", "done"]);
      else expect([status, (answer as { status: string }).status]).toEqual(["cancelled", "cancelled"]);
      expect(events.typesFor(id)).toEqual(["job.started", status === "done" ? "job.completed" : "job.cancelled"]);
    }
  });
});

describe("B98: a running job that is cancelled", () => {
  test("is told as cancelled, too, when nothing is kept of its kind and a listener has heard of it", async () => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      listener: clientListener(workers.database.url),
      handlers: {
        unkept: async (_job, { signal }) => {
          void gate.pass();
          throw await untilAborted(signal);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "unkept", null);
    await gate.reached;
    await queue.admin(workers.db).cancel(id);
    await events.untilFor(id, "job.cancelled");
    expect(await workers.jobs()).toEqual([]);
  });
});

describe("a notification that anybody can send", () => {
  test("cancels nothing that the table does not say is cancelled", async () => {
    const gate = createGate();
    const listener = clientListener(workers.database.url);
    let aborted = true;
    const { events } = await workers.start({
      queue,
      listener,
      handlers: {
        long: async (_job, { signal }) => {
          await gate.pass();
          aborted = signal.aborted;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    const [channel] = await workers.sql<{ name: string }>(
      "select substring(prosrc from 'queue_[0-9a-f]{32}') as name from pg_proc where proname = 'announce_jobs'",
    );
    for (const payload of [`cancel ${id}`, "cancel 99999999999999999999", "cancel -1", "\u{1F600}"]) {
      await workers.sql("select pg_notify($1, $2)", [channel?.name, payload]);
    }
    await expect.poll(() => listener.heard, { timeout: 15_000 }).toContain("\u{1F600}");
    await workers.sql("select 1");
    gate.open();
    await events.untilFor(id, "job.completed");
    expect(aborted).toBe(false);
  });
});
