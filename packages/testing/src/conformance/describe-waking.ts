import { describe, expect, test } from "vitest";
import type { Listener } from "@queue/core";
import type { Suite, TestWorker } from "./suite.js";

/** Longer than a test may take: what starts, starts because something rang or a timer ran out. */
const pollInterval = "60s";

export function describeWaking(suite: Suite): void {
  describe("a worker that listens", () => {
    function listener(skip: (note: string) => never): Listener {
      return suite.adapter.listener ?? skip("this adapter has no listener");
    }

    test("starts a job when it is committed through the database", async ({ skip }) => {
      const worker = suite.worker({ listener: listener(skip), pollInterval, handlers: { errand: () => {} } });
      await worker.start();
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      expect(await worker.until("job.completed")).toMatchObject([{ id }]);
    });

    test("starts a job when it is committed through the adapter, and not when it is rolled back", async ({ skip }) => {
      const worker = suite.worker({ listener: listener(skip), pollInterval, handlers: { errand: () => {} } });
      await worker.start();
      await suite.rolledBack(async (executor) => void (await suite.queue.enqueue(executor, "errand", { n: 1 })));
      await suite.committed(async (executor) => void (await suite.queue.enqueue(executor, "errand", { n: 2 })));
      await worker.until("job.completed");
      expect((await suite.admin.jobs()).items).toMatchObject([{ payload: { n: 2 }, status: "done" }]);
    });

    test("needs one ring for many jobs", async ({ skip }) => {
      const worker = suite.worker({ listener: listener(skip), pollInterval, concurrency: 3, handlers: { errand: () => {} } });
      await worker.start();
      await suite.queue.enqueueMany(
        suite.db,
        Array.from({ length: 200 }, (_, n) => ({ kind: "errand", payload: { n } }) as const),
      );
      expect(await worker.until("job.completed", 200)).toHaveLength(200);
    });

    test("starts a delayed job and a retry when they are due, without a poll", async ({ skip }) => {
      const worker = suite.worker({
        listener: listener(skip),
        pollInterval,
        handlers: {
          note({ attempt }) {
            if (attempt === 1) throw new Error("once more");
          },
        },
      });
      await worker.start();
      const { id } = await suite.queue.enqueue(suite.db, "note", null, { delay: "300ms" });
      await worker.until("job.completed");
      const job = await suite.admin.job(id);
      expect(job).toMatchObject({ status: "done", attempts: 2 });
      expect(job?.startedAt?.getTime()).toBeGreaterThanOrEqual(job?.runAt.getTime() ?? Number.NaN);
      expect(job?.errors[0]?.at.getTime()).toBeGreaterThanOrEqual((job?.createdAt.getTime() ?? Number.NaN) + 300);
    });

    test("works jobs that were there before it", async ({ skip }) => {
      await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      const worker = suite.worker({ listener: listener(skip), pollInterval, handlers: { errand: () => {} } });
      await worker.start();
      expect(await worker.until("job.completed")).toHaveLength(1);
    });

    test("leaves nothing locked when it stops: what it could not finish is queued again", async ({ skip }) => {
      const seen = await stopMidway(suite, (handler) =>
        suite.worker({ listener: listener(skip), pollInterval, handlers: { errand: handler } }),
      );
      expect(seen).toEqual(nothingLocked);
    });
  });

  describe("a worker without a listener", () => {
    test("finds jobs by polling", async () => {
      const worker = suite.worker({ pollInterval: "20ms", handlers: { errand: () => {} } });
      await worker.start();
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      expect(await worker.until("job.completed")).toMatchObject([{ id }]);
    });

    test("leaves nothing locked when it stops: what it could not finish is queued again", async () => {
      const seen = await stopMidway(suite, (handler) => suite.worker({ pollInterval: "20ms", handlers: { errand: handler } }));
      expect(seen).toEqual(nothingLocked);
    });
  });
}

type ErrandHandler = (job: { readonly payload: { readonly n: number } }, ctx: { readonly signal: AbortSignal }) => Promise<void>;

/** Stops a worker that has finished one job and is in the middle of another; what there is to see afterwards. */
async function stopMidway(suite: Suite, makeWorker: (handler: ErrandHandler) => TestWorker) {
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
  const worker = makeWorker(({ payload }, { signal }) => (payload.n === 1 ? finished : untilAborted(signal)));
  const enqueue = async (n: number) => (await suite.queue.enqueue(suite.db, "errand", { n })).id;
  const [done, unfinished] = [await enqueue(1), await enqueue(2)];
  await worker.start();
  await worker.until("job.started", 2);
  finish();
  await worker.until("job.completed");
  await worker.stop({ grace: 0 });
  const late = await enqueue(3);
  const lane = (await suite.admin.health()).lanes.find((candidate) => candidate.lane === "errands");
  return {
    done: (await suite.admin.job(done))?.status,
    unfinished: await suite.admin.job(unfinished),
    late: (await suite.admin.job(late))?.status,
    running: lane?.running,
    expiredLeases: lane?.expiredLeases,
  };
}

const nothingLocked = {
  done: "done",
  unfinished: expect.objectContaining({ status: "queued", attempts: 1, errors: [] }),
  late: "queued",
  running: 0,
  expiredLeases: 0,
};
