import { describe, expect, test } from "vitest";
import { PermanentError, RetryAfterError } from "@queue/core";
import { snooze } from "@queue/worker";
import { createTable, type Suite } from "./suite.js";

const hourMs = 3_600_000;

export function describeAttempts(suite: Suite): void {
  describe("a plain handler", () => {
    test("runs once for a job, and knows all about it", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 }, { key: "k", priority: 2 });
      const seen: unknown[] = [];
      const worker = suite.worker({
        handlers: { errand: (job, { idempotencyKey, signal }) => void seen.push({ ...job, idempotencyKey, aborted: signal.aborted }) },
      });
      await worker.runUntilIdle();
      await suite.worker({ handlers: { errand: () => void seen.push("twice") } }).runUntilIdle();
      expect(seen).toEqual([
        {
          id,
          kind: "errand",
          payload: { n: 1 },
          lane: "errands",
          attempt: 1,
          maxAttempts: 3,
          key: "k",
          createdAt: expect.any(Date),
          runAt: expect.any(Date),
          idempotencyKey: expect.stringMatching(/./),
          aborted: false,
        },
      ]);
      expect(worker.events).toContainEqual(expect.objectContaining({ type: "job.completed", id, kind: "errand" }));
      expect(await suite.admin.job(id)).toMatchObject({
        status: "done",
        attempts: 1,
        lastError: null,
        errors: [],
        finishedAt: expect.any(Date),
      });
    });

    test("runs each job once, also when two workers look for them", async () => {
      const items = Array.from({ length: 60 }, (_, n) => ({ kind: "errand", payload: { n } }) as const);
      await suite.queue.enqueueMany(suite.db, items);
      const ran: number[] = [];
      const workers = [1, 2].map(() => suite.worker({ concurrency: 4, handlers: { errand: ({ payload }) => void ran.push(payload.n) } }));
      await Promise.all(workers.map((worker) => worker.runUntilIdle()));
      expect(ran.toSorted((a, b) => a - b)).toEqual(items.map(({ payload }) => payload.n));
    });

    test("gets the kinds that it is for, in the order of their priority", async () => {
      const ran: string[] = [];
      for (const [n, priority] of [
        [1, 5],
        [2, 0],
        [3, 9],
      ] as const)
        await suite.queue.enqueue(suite.db, "errand", { n }, { priority });
      const other = await suite.queue.enqueue(suite.db, "chore", null);
      await suite.worker({ concurrency: 1, handlers: { errand: ({ payload }) => void ran.push(`errand ${payload.n}`) } }).runUntilIdle();
      expect(ran).toEqual(["errand 2", "errand 1", "errand 3"]);
      expect(await suite.admin.job(other.id)).toMatchObject({ status: "queued", attempts: 0 });
    });
  });

  describe("a transactional handler", () => {
    test("commits what it wrote together with the completion, or nothing", async () => {
      const written = await createTable(suite, "written");
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      const worker = suite.worker({
        handlers: {
          errand: {
            transactional: true,
            async run(job, { trx }) {
              const executor = suite.inHandler(trx);
              await executor.execute({ sql: `insert into ${written} values ($1::text)`, parameters: [`attempt ${job.attempt}`] });
              await suite.queue.enqueue(executor, "chore", null);
              if (job.attempt === 1) throw new Error("changed my mind");
            },
          },
        },
      });
      await worker.runUntilIdle();
      expect(await suite.run(`select value from ${written}`)).toEqual([{ value: "attempt 2" }]);
      expect((await suite.admin.jobs({ kind: "chore" })).items).toHaveLength(1);
      expect(await suite.admin.job(id)).toMatchObject({
        status: "done",
        attempts: 2,
        errors: [{ attempt: 1, message: "changed my mind" }],
      });
    });

    test("commits what it wrote when it snoozes", async () => {
      const written = await createTable(suite, "written");
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      await suite
        .worker({
          handlers: {
            errand: {
              transactional: true,
              async run(_job, { trx }) {
                await suite.inHandler(trx).execute({ sql: `insert into ${written} values ('kept')`, parameters: [] });
                return snooze("1h");
              },
            },
          },
        })
        .runUntilIdle();
      expect(await suite.run(`select value from ${written}`)).toEqual([{ value: "kept" }]);
      expect(await suite.admin.job(id)).toMatchObject({ status: "queued", attempts: 0 });
    });

    test("fails its attempt when it swallowed an error of the database", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 }, { maxAttempts: 1 });
      await suite
        .worker({
          handlers: {
            errand: {
              transactional: true,
              run: async (_job, { trx }) =>
                void (await suite
                  .inHandler(trx)
                  .execute({ sql: "select 1 / 0", parameters: [] })
                  .catch(() => {})),
            },
          },
        })
        .runUntilIdle();
      expect(await suite.admin.job(id)).toMatchObject({ status: "dead", attempts: 1 });
    });
  });

  describe("a failed attempt", () => {
    test("is followed by the next until one succeeds", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      const attempts: number[] = [];
      const worker = suite.worker({
        handlers: {
          errand({ attempt }) {
            attempts.push(attempt);
            if (attempt < 3) throw new TypeError(`attempt ${attempt}`);
          },
        },
      });
      await worker.runUntilIdle();
      expect(attempts).toEqual([1, 2, 3]);
      expect(worker.events.filter(({ type }) => type === "job.failed")).toHaveLength(2);
      expect(await suite.admin.job(id)).toMatchObject({
        status: "done",
        attempts: 3,
        errors: [
          { attempt: 1, name: "TypeError", message: "attempt 1" },
          { attempt: 2, name: "TypeError", message: "attempt 2" },
        ],
      });
    });

    test("is the last when no attempt is left: the job is dead, and says why", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      const worker = suite.worker({
        handlers: {
          errand() {
            throw "just\0a text";
          },
        },
      });
      await worker.runUntilIdle();
      expect(await suite.admin.job(id)).toMatchObject({ status: "dead", attempts: 3, lastError: expect.stringContaining("just") });
      expect(worker.events).toContainEqual(expect.objectContaining({ type: "job.dead", id }));
    });

    test("is the last after a PermanentError", async () => {
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
      await suite
        .worker({
          handlers: {
            async errand() {
              throw new PermanentError("no such customer");
            },
          },
        })
        .runUntilIdle();
      expect(await suite.admin.job(id)).toMatchObject({ status: "dead", attempts: 1, lastError: "no such customer" });
    });

    test("waits as long as a RetryAfterError says", async () => {
      const { id, runAt } = await enqueuedAndRun(suite, () => {
        throw new RetryAfterError("1h", { message: "too many requests" });
      });
      const job = await suite.admin.job(id);
      expect(job).toMatchObject({ status: "queued", attempts: 1, lastError: "too many requests" });
      expect((job?.runAt.getTime() ?? 0) - runAt.getTime()).toBeGreaterThanOrEqual(hourMs);
    });
  });

  test("a snooze puts the job off and spends no attempt", async () => {
    const { id, runAt } = await enqueuedAndRun(suite, () => snooze("1h"));
    const job = await suite.admin.job(id);
    expect(job).toMatchObject({ status: "queued", attempts: 0, lastError: null });
    expect((job?.runAt.getTime() ?? 0) - runAt.getTime()).toBeGreaterThanOrEqual(hourMs);
  });
}

async function enqueuedAndRun(suite: Suite, handler: () => ReturnType<typeof snooze>): Promise<{ id: string; runAt: Date }> {
  const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 1 });
  const runAt = (await suite.admin.job(id))?.runAt ?? new Date(Number.NaN);
  await suite.worker({ handlers: { errand: handler } }).runUntilIdle();
  return { id, runAt };
}
