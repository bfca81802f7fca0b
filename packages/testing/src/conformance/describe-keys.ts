import { describe, expect, test } from "vitest";
import { PermanentError } from "@queue/core";
import type { Suite } from "./suite.js";

export function describeKeys(suite: Suite): void {
  describe("a key", () => {
    test("lets a second job in no way in: nothing is inserted, and the first's id comes back", async () => {
      const first = await suite.queue.enqueue(suite.db, "errand", { n: 1 }, { key: "k" });
      await suite.committed(async (executor) => {
        expect(await suite.queue.enqueue(executor, "errand", { n: 2 }, { key: "k" })).toEqual({ id: first.id, inserted: false });
      });
      await suite.worker({ handlers: { errand: () => {} } }).runUntilIdle();
      expect(await suite.queue.enqueue(suite.db, "errand", { n: 3 }, { key: "k" })).toEqual({ id: first.id, inserted: false });
      expect((await suite.admin.jobs()).items).toMatchObject([{ id: first.id, payload: { n: 1 }, key: "k", status: "done" }]);
    });

    test("is its kind's own, and exact", async () => {
      const keys = ["k", "K", " k", "κ", "'; --"];
      for (const key of keys) expect(await suite.queue.enqueue(suite.db, "errand", { n: 1 }, { key })).toMatchObject({ inserted: true });
      expect(await suite.queue.enqueue(suite.db, "chore", null, { key: "k" })).toMatchObject({ inserted: true });
    });

    test("is free again when the transaction that took it rolled back", async () => {
      await suite.rolledBack(async (executor) => {
        expect(await suite.queue.enqueue(executor, "errand", { n: 1 }, { key: "k" })).toMatchObject({ inserted: true });
      });
      expect(await suite.queue.enqueue(suite.db, "errand", { n: 2 }, { key: "k" })).toMatchObject({ inserted: true });
    });

    test("that holds until-started is free when a worker has the job", async () => {
      const options = { key: "k", keyHolds: "until-started" } as const;
      const first = await suite.queue.enqueue(suite.db, "errand", { n: 1 }, options);
      expect(await suite.queue.enqueue(suite.db, "errand", { n: 2 }, options)).toEqual({ id: first.id, inserted: false });
      const inserted: boolean[] = [];
      const worker = suite.worker({
        concurrency: 1,
        handlers: {
          async errand({ payload }) {
            if (payload.n === 1) inserted.push((await suite.queue.enqueue(suite.db, "errand", { n: 3 }, options)).inserted);
          },
        },
      });
      await worker.runUntilIdle();
      expect(inserted).toEqual([true]);
      expect((await suite.admin.jobs({ status: "done" })).items.map(({ payload }) => payload)).toEqual([{ n: 3 }, { n: 1 }]);
    });

    test("that holds until-ended is free when the job is done, and not before", async () => {
      const options = { key: "k", keyHolds: "until-ended" } as const;
      const first = await suite.queue.enqueue(suite.db, "errand", { n: 1 }, options);
      const duringRun: unknown[] = [];
      const worker = suite.worker({
        handlers: {
          async errand({ attempt }) {
            duringRun.push(await suite.queue.enqueue(suite.db, "errand", { n: 2 }, options));
            if (attempt === 1) throw new Error("once more");
          },
        },
      });
      await worker.runUntilIdle();
      expect(duringRun).toEqual([
        { id: first.id, inserted: false },
        { id: first.id, inserted: false },
      ]);
      expect(await suite.queue.enqueue(suite.db, "errand", { n: 3 }, options)).toMatchObject({ inserted: true });
    });

    test("that holds until-ended is free when the job is dead or cancelled", async () => {
      const options = { keyHolds: "until-ended" } as const;
      await suite.queue.enqueue(suite.db, "errand", { n: 1 }, { key: "dead", ...options });
      await suite
        .worker({
          handlers: {
            errand: () => {
              throw new PermanentError("never");
            },
          },
        })
        .runUntilIdle();
      const { id } = await suite.queue.enqueue(suite.db, "errand", { n: 2 }, { key: "cancelled", ...options });
      await suite.admin.cancel(id);
      for (const key of ["dead", "cancelled"]) {
        expect(await suite.queue.enqueue(suite.db, "errand", { n: 3 }, { key, ...options })).toMatchObject({ inserted: true });
      }
    });
  });
}
