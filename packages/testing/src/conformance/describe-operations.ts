import { describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import type { Suite } from "./suite.js";

export function describeOperations(suite: Suite): void {
  describe("cancel", () => {
    test("keeps a queued job from running", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      expect(await suite.admin.cancel(id)).toMatchObject({ id, status: "cancelled" });
      const ran: string[] = [];
      await suite.worker({ handlers: { errand: (job) => void ran.push(job.id) } }).runUntilIdle();
      expect(ran).toEqual([]);
      expect(await suite.admin.job(id)).toMatchObject({ status: "cancelled", attempts: 0 });
    });

    test("reaches the signal of a running handler, whose outcome is not recorded", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      let aborted: (reason: unknown) => void = () => {};
      const reason = new Promise<unknown>((resolve) => (aborted = resolve));
      const worker = suite.worker({
        pollInterval: "50ms",
        lease: "1s",
        heartbeat: "50ms",
        handlers: {
          errand: (_job, { signal }) =>
            new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(aborted(signal.reason)))),
        },
      });
      await worker.start();
      await worker.until("job.started");
      expect(await suite.admin.cancel(id)).toMatchObject({ status: "cancelled" });
      expect(QueueError.is(await reason, "JOB_CANCELLED")).toBe(true);
      await worker.until("job.cancelled");
      expect(await suite.admin.job(id)).toMatchObject({ status: "cancelled" });
      expect(worker.events.some(({ type }) => type === "job.completed" || type === "job.failed")).toBe(false);
    });

    test.each(["0", "9223372036854775807"])("of a job that is not there says so: %s", async (id) => {
      await expect(suite.admin.cancel(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND", jobId: id });
      await expect(suite.admin.retry(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND", jobId: id });
      expect(await suite.admin.job(id)).toBeNull();
    });
  });

  describe("dead letters", () => {
    async function die(count: number): Promise<string[]> {
      const items = Array.from({ length: count }, (_, n) => ({ kind: "errand", payload: { n } }) as const);
      const jobs = await suite.queue.enqueueMany(suite.db, items);
      await suite
        .worker({
          handlers: {
            errand() {
              throw new Error("down");
            },
          },
        })
        .runUntilIdle();
      return jobs.map(({ id }) => id);
    }

    test("run again after a redrive, with all their attempts", async () => {
      const ids = await die(3);
      expect(await suite.admin.redrive({ kind: "errand", dryRun: true })).toEqual({ count: 3, dryRun: true, conflicts: [] });
      expect(await suite.admin.redrive({ kind: "errand" })).toEqual({ count: 3, dryRun: false, conflicts: [] });
      const attempts: number[] = [];
      await suite.worker({ handlers: { errand: ({ attempt }) => void attempts.push(attempt) } }).runUntilIdle();
      expect(attempts).toEqual([1, 1, 1]);
      for (const id of ids) expect(await suite.admin.job(id)).toMatchObject({ status: "done", redrives: 1 });
    });

    test("are retried one by one", async () => {
      const [first = "", second = ""] = await die(2);
      expect(await suite.admin.retry(first)).toMatchObject({ id: first, status: "queued", attempts: 0 });
      await suite.worker({ handlers: { errand: () => {} } }).runUntilIdle();
      expect(await suite.admin.job(first)).toMatchObject({ status: "done" });
      expect(await suite.admin.job(second)).toMatchObject({ status: "dead" });
    });

    test("are not redriven all at once by accident", async () => {
      await expect(suite.admin.redrive({})).rejects.toMatchObject({ code: "INVALID_OPTION" });
    });
  });

  test("a paused lane rests until it is resumed, and the others go on", async () => {
    const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
    const other = await suite.queue.enqueue(suite.db, "chore", null);
    await suite.admin.pause("errands");
    const handlers = { errand: () => {}, chore: () => {} };
    await suite.worker({ handlers }).runUntilIdle();
    expect(await suite.admin.job(id)).toMatchObject({ status: "queued" });
    expect(await suite.admin.job(other.id)).toMatchObject({ status: "done" });
    await suite.admin.resume("errands");
    await suite.worker({ handlers }).runUntilIdle();
    expect(await suite.admin.job(id)).toMatchObject({ status: "done" });
  });

  test("jobs are listed newest first, page by page", async () => {
    const items = Array.from({ length: 5 }, (_, n) => ({ kind: "errand", payload: { n } }) as const);
    const ids = (await suite.queue.enqueueMany(suite.db, items)).map(({ id }) => id).toReversed();
    const first = await suite.admin.jobs({ kind: "errand", status: "queued", limit: 3 });
    const second = await suite.admin.jobs({ kind: "errand", status: "queued", limit: 3, after: first.next });
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(ids);
    expect([first.items.length, second.items.length, second.next]).toEqual([3, 2, null]);
  });

  test("health counts what is ready, scheduled and dead, and names the kinds that nobody works", async () => {
    await suite.queue.enqueueMany(suite.db, [
      { kind: "errand", payload: { n: 1 }, options: { maxAttempts: 1 } },
      { kind: "note", payload: null },
      { kind: "note", payload: null, options: { delay: "1h" } },
    ]);
    await suite
      .worker({
        handlers: {
          errand() {
            throw new Error("down");
          },
        },
      })
      .runUntilIdle();
    await suite.admin.pause("chores");
    const { lanes, kindsWithoutWorker, deadTuples } = await suite.admin.health();
    const byLane = new Map(lanes.map((lane) => [lane.lane, lane]));
    expect(byLane.get("errands")).toMatchObject({
      ready: 0,
      scheduled: 0,
      running: 0,
      dead: 1,
      oldestReadyMs: null,
      expiredLeases: 0,
      paused: false,
    });
    expect(byLane.get("notes")).toMatchObject({
      ready: 1,
      scheduled: 1,
      waiting: 0,
      running: 0,
      dead: 0,
      oldestReadyMs: expect.any(Number),
    });
    expect(byLane.get("chores")).toMatchObject({ ready: 0, paused: true });
    expect(kindsWithoutWorker).toEqual(["note"]);
    expect(deadTuples).toEqual(expect.any(Number));
  });
}
