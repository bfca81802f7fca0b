import { describe, expect, test } from "vitest";
import type { Suite } from "./suite.js";

export function describeTransactions(suite: Suite): void {
  describe("a job that is enqueued in a transaction of the adapter", () => {
    test("is there after the commit", async () => {
      let id = "";
      await suite.committed(async (executor) => {
        expect(executor.adapter).toMatch(/./);
        const result = await suite.queue.enqueue(executor, "errand", { n: 1 });
        expect(result).toEqual({ id: expect.any(String), inserted: true });
        id = result.id;
      });
      expect(await suite.admin.job(id)).toMatchObject({
        id,
        kind: "errand",
        lane: "errands",
        status: "queued",
        payload: { n: 1 },
        attempts: 0,
        maxAttempts: 3,
      });
    });

    test("is not there after a rollback, and never runs", async () => {
      const ran: number[] = [];
      await suite.rolledBack(async (executor) => {
        await suite.queue.enqueue(executor, "errand", { n: 1 });
        await suite.queue.enqueueMany(executor, [{ kind: "errand", payload: { n: 2 } }]);
      });
      await suite.worker({ handlers: { errand: ({ payload }) => void ran.push(payload.n) } }).runUntilIdle();
      expect(ran).toEqual([]);
      expect((await suite.admin.jobs()).items).toEqual([]);
    });

    test("goes with the savepoint that it was enqueued in, and the others stay", async () => {
      await suite.committed(async (executor) => {
        await suite.queue.enqueue(executor, "errand", { n: 1 });
        await executor.execute({ sql: "savepoint inner_part", parameters: [] });
        await suite.queue.enqueue(executor, "errand", { n: 2 }, { key: "inner" });
        await executor.execute({ sql: "rollback to savepoint inner_part", parameters: [] });
        await suite.queue.enqueue(executor, "errand", { n: 3 });
      });
      const { items } = await suite.admin.jobs();
      expect(items.map(({ payload }) => payload)).toEqual([{ n: 3 }, { n: 1 }]);
      expect(await suite.queue.enqueue(suite.db, "errand", { n: 4 }, { key: "inner" })).toMatchObject({ inserted: true });
    });

    test("is written through the same executor with plain SQL beside it", async () => {
      await suite.committed(async (executor) => {
        const { rows } = await executor.execute<{ text: string; int: number; nothing: null; bool: boolean }>({
          sql: "select $1::text as text, $2::int as int, $3::text as nothing, true as bool",
          parameters: ["a", 1, null],
        });
        expect(rows).toEqual([{ text: "a", int: 1, nothing: null, bool: true }]);
        await suite.queue.enqueue(executor, "chore", null);
      });
      expect((await suite.admin.jobs()).items).toHaveLength(1);
    });

    test("is lost with a transaction that an error of the database ended", async () => {
      const failing = suite.committed(async (executor) => {
        await suite.queue.enqueue(executor, "chore", null);
        await executor.execute({ sql: "select 1 / 0", parameters: [] });
      });
      await expect(failing).rejects.toThrow("division by zero");
      expect((await suite.admin.jobs()).items).toEqual([]);
    });

    test("is refused before any SQL when it is wrong, and the transaction stays usable", async () => {
      await suite.committed(async (executor) => {
        const { queue } = suite;
        await expect(queue.enqueue(executor, "note", { text: "a\0b" })).rejects.toMatchObject({ code: "INVALID_PAYLOAD", path: "$.text" });
        await expect(queue.enqueue(executor, "note", null, { delay: "1 minute" as never })).rejects.toMatchObject({
          code: "INVALID_OPTION",
        });
        await expect(queue.enqueue(executor, "nobody" as never, null)).rejects.toMatchObject({ code: "UNKNOWN_KIND" });
        await suite.queue.enqueue(executor, "chore", null);
      });
      expect((await suite.admin.jobs()).items).toMatchObject([{ kind: "chore" }]);
    });
  });

  describe("a job that is enqueued through Kysely", () => {
    test("follows its transaction", async () => {
      await suite.db.transaction().execute((trx) => suite.queue.enqueue(trx, "errand", { n: 1 }));
      const failing = suite.db.transaction().execute(async (trx) => {
        await suite.queue.enqueue(trx, "errand", { n: 2 });
        throw new Error("no stock");
      });
      await expect(failing).rejects.toThrow("no stock");
      expect((await suite.admin.jobs()).items).toMatchObject([{ payload: { n: 1 } }]);
    });

    test("goes with its savepoint", async () => {
      const trx = await suite.db.startTransaction().execute();
      await suite.queue.enqueue(trx, "errand", { n: 1 });
      const inner = await trx.savepoint("inner_part").execute();
      await suite.queue.enqueue(inner, "errand", { n: 2 });
      const outer = await inner.rollbackToSavepoint("inner_part").execute();
      await outer.commit().execute();
      expect((await suite.admin.jobs()).items).toMatchObject([{ payload: { n: 1 } }]);
    });
  });
}
