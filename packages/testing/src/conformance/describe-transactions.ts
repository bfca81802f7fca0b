import { describe, expect, test } from "vitest";
import type { Executor } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { toDatabase } from "@queue/core/internal";
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

  describe.each(["commits", "rolls back"])("a transaction of the database that %s", (how) => {
    const failure = new Error("no stock");
    const transact = (fn: (executor: Executor) => Promise<unknown>): Promise<unknown> =>
      toDatabase(suite.db).transaction(async (_trx, executor) => {
        await fn(executor);
        if (how !== "commits") throw failure;
      });

    test("takes its jobs with it, and rejects with the same error as its callback", async () => {
      const transaction = transact((executor) => suite.queue.enqueue(executor, "errand", { n: 1 }));
      if (how === "commits") await transaction;
      else await expect(transaction).rejects.toBe(failure);
      expect((await suite.admin.jobs()).items).toHaveLength(how === "commits" ? 1 : 0);
    });

    test("is at READ COMMITTED, and may write", async () => {
      const seen: unknown[] = [];
      await transact(async (executor) => {
        const text = "select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only";
        seen.push(...(await executor.execute({ sql: text, parameters: [] })).rows);
      }).catch(() => {});
      expect(seen).toEqual([{ isolation: "read committed", read_only: "off" }]);
    });

    test("gives its connection back, however often", async () => {
      for (let n = 0; n < 30; n++) await transact((executor) => suite.queue.enqueue(executor, "chore", null)).catch(() => {});
      expect((await suite.admin.jobs()).items).toHaveLength(how === "commits" ? 30 : 0);
    });
  });

  describe("a transaction of the database whose statement failed", () => {
    test("rejects, gives its connection back, and leaves nothing, also when the error was swallowed", async () => {
      for (let n = 0; n < 30; n++) {
        const transaction = toDatabase(suite.db).transaction(async (_trx, executor) => {
          await suite.queue.enqueue(executor, "chore", null);
          const failing = executor.execute({ sql: "select 1 / 0", parameters: [] });
          if (n % 2 === 0) await failing;
          else await failing.catch(() => {});
          await suite.queue.enqueue(executor, "chore", null);
        });
        await expect(transaction).rejects.toBeInstanceOf(Error);
      }
      expect((await suite.admin.jobs()).items).toEqual([]);
    });

    test("keeps the SQLSTATE where a caller finds it", async () => {
      const failing = toDatabase(suite.db).transaction((_trx, executor) => executor.execute({ sql: "select 1 / 0", parameters: [] }));
      const error: unknown = await failing.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(sqlStateOf(error)).toBe("22012");
    });
  });
}
