import { createQueue, job } from "@queue/core";
import { beforeEach, describe, expect, test } from "vitest";
import { createGate } from "./support/gate.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();

/** What the next check of a payload waits for, or does. */
let onCheck: () => void | Promise<void> = () => {};
const checked = {
  "~standard": {
    version: 1,
    vendor: "test",
    async validate(value: unknown) {
      const check = onCheck;
      onCheck = () => {};
      await check();
      return { value: value as null };
    },
  },
} as const;
const queue = createQueue({ jobs: { checked: job({ payload: checked }), long: job() } });

beforeEach(() => {
  onCheck = () => {};
});

describe("a handler whose payload is still being checked", () => {
  test("is not begun when its job is cancelled meanwhile", async () => {
    const running = createGate();
    const checking = createGate();
    let begun = 0;
    const { events } = await workers.start({
      queue,
      lease: 300,
      heartbeat: 50,
      handlers: { checked: () => void (begun += 1), long: () => running.pass() },
    });
    const long = await queue.enqueue(workers.db, "long", null);
    const { id } = await queue.enqueue(workers.db, "checked", null);
    await events.untilFor(id, "job.completed");
    onCheck = () => {
      onCheck = () => checking.pass();
    };
    const cancelled = await queue.enqueue(workers.db, "checked", null);
    await checking.reached;
    await queue.admin(workers.db).cancel(cancelled.id);
    // The next heartbeat has found out.
    await workers.untilHeartbeats(long.id, 2);
    checking.open();
    await events.untilFor(cancelled.id, "job.cancelled");
    expect(begun).toBe(1);
    running.open();
  });

  test("is not begun when its lease is over by then, and the job is given back with its attempt", async () => {
    let begun = 0;
    const lease = 300;
    const { events } = await workers.start({ queue, lease, heartbeat: 100, handlers: { checked: () => void (begun += 1) } });
    onCheck = () => {
      // The process stands still: no heartbeat is sent.
      onCheck = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lease * 2);
    };
    const { id } = await queue.enqueue(workers.db, "checked", null);
    await events.untilFor(id, "job.completed");
    expect(begun).toBe(1);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1, claims: 2 });
  });
});
