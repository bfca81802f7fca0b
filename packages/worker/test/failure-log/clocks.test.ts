import { afterEach, describe, expect, test, vi } from "vitest";
import { createQueue, job, RetryAfterError } from "@queue/core";
import { snooze } from "@queue/worker";
import { useWorkers } from "../support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job(), fails: job(), snoozes: job() } });
const hourMs = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

describe.each([hourMs, -hourMs])("a process whose clock is %d ms off", (offMs) => {
  test("tells of its jobs by the database's clock: how long they waited, and when they are due again", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offMs });
    const { events } = await workers.start({
      queue,
      handlers: {
        works: () => {},
        fails: () => {
          throw new RetryAfterError("10m");
        },
        snoozes: () => snooze("10m"),
      },
    });
    await queue.enqueue(workers.db, "works", null);
    const { waitedMs } = await events.until("job.started");
    await events.until("job.completed");
    expect(waitedMs).toBeLessThan(60_000);
    const failing = await queue.enqueue(workers.db, "fails", null);
    const snoozing = await queue.enqueue(workers.db, "snoozes", null);
    const { retryAt } = await events.untilFor(failing.id, "job.failed");
    const { runAt } = await events.untilFor(snoozing.id, "job.snoozed");
    for (const [id, told] of [
      [failing.id, retryAt],
      [snoozing.id, runAt],
    ] as const)
      expect(Math.abs((await workers.job(id)).run_at.getTime() - told.getTime())).toBeLessThan(60_000);
  });
});

test("a clock that jumps while a job runs costs it nothing: leases and heartbeats do not look at it", async () => {
  const { events } = await workers.start({
    queue,
    lease: "1s",
    heartbeat: 50,
    sweepInterval: 50,
    handlers: {
      works: async ({ id }, { signal }) => {
        for (const jumpMs of [hourMs, -2 * hourMs, 0, 1_000 * hourMs]) {
          vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + jumpMs });
          await workers.untilHeartbeats(id, 2);
          signal.throwIfAborted();
        }
      },
    },
  });
  const { id } = await queue.enqueue(workers.db, "works", null);
  await events.untilFor(id, "job.completed");
  expect(events.of("job.lease-lost")).toEqual([]);
  expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 1 });
});
