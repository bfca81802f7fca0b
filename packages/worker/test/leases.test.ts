import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { createGate, untilAborted } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { long: job({ maxAttempts: 3, backoff: { base: 1 } }), other: job() } });
const short = { lease: 300, heartbeat: 100, sweepInterval: 50 } as const;

/** What a worker that died has left: its job runs, and nobody extends the lease. */
async function leaveBehind(id: string, { attempts = 1, expiredFor = "1 second" } = {}): Promise<void> {
  await workers.sql(
    `update queue.jobs set status = 'running', attempts = $2, claims = claims + 1, worker = 'dead', started_at = now(),
       locked_until = clock_timestamp() - $3::interval where id = $1`,
    [id, attempts, expiredFor],
  );
}

describe("heartbeats", () => {
  test.each([
    ["through the pool", false],
    ["on the listener's connection", true],
  ])("keep a job that takes five leases at its first attempt, %s", async (_how, listens) => {
    const { events } = await workers.start({
      queue,
      ...short,
      ...(listens ? { listener: clientListener(workers.database.url) } : {}),
      handlers: { long: ({ id }) => workers.untilRunningFor(id, 1_500) },
    });
    // A worker leaves its own jobs to others to return.
    const sweeper = await workers.start({ queue, sweepInterval: 50, handlers: {} });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await events.untilFor(id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 1 });
    expect([...events.of("job.lease-lost"), ...sweeper.events.of("job.lease-lost")]).toEqual([]);
  });

  test("are one statement for everything that a process runs", async () => {
    const gate = createGate();
    const { events } = await workers.start({ queue, ...short, concurrency: 50, handlers: { long: () => gate.pass() } });
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 50 }, () => ({ kind: "long", payload: null })),
    );
    await events.until("job.started", 50);
    const [first] = await workers.jobs();
    await workers.untilHeartbeats(first?.id ?? "", 2);
    const transactions = await workers.sql<{ xmins: number }>("select count(distinct xmin::text)::int as xmins from queue.jobs");
    expect(transactions).toEqual([{ xmins: 1 }]);
    gate.open();
    await events.until("job.completed", 50);
  });

  test("go on while outcomes are written: no job is lost when thousands end", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 3_000 }, () => ({ kind: "other", payload: null })),
    );
    const sweeper = await workers.start({ queue, sweepInterval: 50, handlers: {} });
    const { events } = await workers.start({ queue, lease: 300, heartbeat: 10, concurrency: 100, handlers: { other: () => {} } });
    await events.until("job.completed", 3_000, 20_000);
    expect([...events.of("job.lease-lost"), ...sweeper.events.of("job.lease-lost")]).toEqual([]);
  });
});

describe("a sweep", () => {
  test("returns the job of a worker that died, due at once, with its attempt counted", async () => {
    const { id } = await queue.enqueue(workers.db, "long", null);
    await leaveBehind(id);
    const { events } = await workers.start({ queue, ...short, handlers: { long: () => {} } });
    await events.untilFor(id, "job.completed");
    const { attempts, errors } = await workers.job(id);
    expect(attempts).toBe(2);
    expect(errors).toMatchObject([{ attempt: 1, name: "LeaseExpired", worker: "dead" }]);
    const { error } = await events.untilFor(id, "job.lease-lost");
    expect(QueueError.is(error, "LEASE_LOST") && error.jobId).toBe(id);
  });

  test("B41: lets a job die that has taken its last attempt with it", async () => {
    const { id } = await queue.enqueue(workers.db, "long", null);
    await leaveBehind(id, { attempts: 3 });
    let runs = 0;
    const { events } = await workers.start({ queue, ...short, handlers: { long: () => void runs++, other: () => {} } });
    await events.untilFor(id, "job.dead");
    await queue.enqueue(workers.db, "other", null);
    await events.until("job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: 3, last_error: expect.stringContaining("lease ran out") });
    expect(runs).toBe(0);
  });

  test("is done for kinds and lanes that the worker does not serve, too", async () => {
    const { id } = await queue.enqueue(workers.db, "long", null, { lane: "elsewhere" });
    await leaveBehind(id);
    const { events } = await workers.start({ queue, ...short, lanes: ["default"], handlers: {} });
    await events.untilFor(id, "job.lease-lost");
    expect(await workers.job(id)).toMatchObject({ status: "queued", attempts: 1, locked_until: null });
  });

  test("takes more than one statement holds", async () => {
    await queue.enqueueMany(
      workers.db,
      Array.from({ length: 2_100 }, () => ({ kind: "other", payload: null })),
    );
    await workers.sql("update queue.jobs set status = 'running', attempts = 1, worker = 'dead', locked_until = now() - interval '1 s'");
    const { worker, events } = workers.create({ queue, concurrency: 100, handlers: { other: () => {} } });
    await worker.runUntilIdle();
    expect(events.of("job.lease-lost")).toHaveLength(2_100);
    expect(events.of("job.completed")).toHaveLength(2_100);
  });

  test("leaves a lease alone that has not run out", async () => {
    const { id } = await queue.enqueue(workers.db, "long", null);
    await leaveBehind(id, { expiredFor: "-1 hour" });
    const { events } = await workers.start({ queue, ...short, handlers: { long: () => {}, other: () => {} } });
    const expired = await queue.enqueue(workers.db, "other", null);
    await leaveBehind(expired.id);
    await events.untilFor(expired.id, "job.completed");
    expect(await workers.job(id)).toMatchObject({ status: "running", attempts: 1 });
  });
});

describe("B38: a worker that lost its lease", () => {
  test.each([
    ["completes", undefined],
    ["fails", new Error("late")],
  ])("and then %s, changes nothing: the outcome of the one that took over stays", async (_how, failure) => {
    const gate = createGate();
    const { events } = await workers.start({
      queue,
      concurrency: 1,
      lease: "1h",
      heartbeat: "20m",
      handlers: {
        long: async () => {
          await gate.pass();
          if (failure !== undefined) throw failure;
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await gate.reached;
    await workers.sql("update queue.jobs set locked_until = now() - interval '1 second' where id = $1", [id]);
    const other = await workers.start({ queue, ...short, handlers: { long: () => {} } });
    await other.events.untilFor(id, "job.completed");
    const before = await workers.job(id);
    gate.open();
    const { error } = await events.untilFor(id, "job.lease-lost");
    expect(QueueError.is(error, "LEASE_LOST")).toBe(true);
    expect(events.typesFor(id)).toEqual(["job.started", "job.lease-lost"]);
    expect(await workers.job(id)).toEqual(before);
    expect(before).toMatchObject({ status: "done", attempts: 2 });
  });

  test("has its handler's signal aborted as soon as a heartbeat finds out", async () => {
    let reason: unknown;
    const begun = createGate();
    const { events } = await workers.start({
      queue,
      ...short,
      sweepInterval: "60s",
      handlers: {
        long: async (_job, { signal }) => {
          void begun.pass();
          reason = await untilAborted(signal);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await begun.reached;
    await workers.sql("update queue.jobs set worker = 'thief', claims = claims + 1, locked_until = now() + interval '1 h' where id = $1", [
      id,
    ]);
    await events.untilFor(id, "job.lease-lost");
    expect(QueueError.is(reason, "LEASE_LOST")).toBe(true);
    expect(await workers.job(id)).toMatchObject({ status: "running", worker: "thief" });
  });

  test("and claims the job itself again, runs it beside the handler that goes on, and tells of both", async () => {
    const first = createGate();
    const reasons: unknown[] = [];
    const { events } = await workers.start({
      queue,
      // No heartbeat comes in between: the claim itself tells.
      lease: "60s",
      handlers: {
        long: async ({ attempt }, { signal }) => {
          if (attempt > 1) return;
          signal.addEventListener("abort", () => reasons.push(signal.reason));
          await first.pass();
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "long", null);
    await first.reached;
    // As a sweep of another worker does it, when this one's event loop was blocked for a lease.
    await workers.sql("update queue.jobs set status = 'queued', locked_until = null, run_at = clock_timestamp() where id = $1", [id]);
    await events.untilFor(id, "job.completed");
    await expect.poll(() => reasons.map((reason) => QueueError.is(reason, "LEASE_LOST")), { timeout: 15_000 }).toEqual([true]);
    first.open();
    await events.untilFor(id, "job.lease-lost");
    expect(events.typesFor(id).toSorted()).toEqual(["job.completed", "job.lease-lost", "job.started", "job.started"]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 2 });
  });
});
