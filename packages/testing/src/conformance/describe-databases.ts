import { describe, expect, test } from "vitest";
import type { Executor } from "@queue/core";
import { type AdapterDatabase, sqlStateOf } from "@queue/core/adapter";
import { toDatabase } from "@queue/core/internal";
import { onEveryConnection } from "./every-connection.js";
import { createTable, type Suite } from "./suite.js";

const failing = { sql: "select 1 / 0", parameters: [] };
const transactionMode = {
  sql: "select current_setting('transaction_isolation') as isolation, current_setting('transaction_read_only') as read_only",
  parameters: [],
};

/** What `promise` rejects with; whatever that is, it is not taken for a result. */
async function outcomeOf(promise: Promise<unknown>): Promise<{ readonly result: unknown } | { readonly error: unknown }> {
  return promise.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
}

/** What every {@link AdapterDatabase} does: its transactions and its connections. */
export function describeDatabases(suite: Suite): void {
  const transact = <T>(body: (trx: unknown, executor: Executor) => Promise<T>): Promise<T> => toDatabase(suite.db).transaction(body);
  const kinds = async (): Promise<string[]> => (await suite.admin.jobs()).items.map(({ kind }) => kind);

  describe("a transaction of the database", () => {
    test("takes its jobs along when it commits, and resolves with what its body resolved with", async () => {
      const result = { promises: [Promise.resolve()] };
      const resolved = await transact(async (_trx, executor) => {
        await suite.queue.enqueue(executor, "chore", null);
        return result;
      });
      expect(resolved).toBe(result);
      expect(await kinds()).toEqual(["chore"]);
    });

    test("hands out the library's own transaction, which its executor runs in, too", async () => {
      const query = { sql: "select pg_backend_pid() as pid, pg_current_xact_id()::text as xid", parameters: [] };
      const [through, own, other] = await transact(async (trx, executor) => [
        await executor.execute(query),
        await suite.inHandler(trx).execute(query),
        // The one connection of an embedded database is taken.
        toDatabase(suite.db).hasOneConnection === true ? undefined : await toDatabase(suite.db).execute(query),
      ]);
      expect(own?.rows).toEqual(through?.rows);
      expect(other?.rows).not.toEqual(through?.rows);
    });

    test("is at READ COMMITTED, and may write, whatever the defaults of the connection are", async () => {
      const db = toDatabase(suite.db);
      await onEveryConnection(db, ["set session characteristics as transaction isolation level serializable, read only"]);
      try {
        expect((await db.execute(transactionMode)).rows).toEqual([{ isolation: "serializable", read_only: "on" }]);
        const { rows } = await transact((_trx, executor) => executor.execute(transactionMode));
        expect(rows).toEqual([{ isolation: "read committed", read_only: "off" }]);
      } finally {
        await onEveryConnection(db, ["reset default_transaction_isolation", "reset default_transaction_read_only"]);
      }
    });

    test.each<[name: string, thrown: unknown, before: (executor: Executor) => Promise<unknown>]>([
      ["an error", new Error("no stock"), async () => {}],
      ["a text", "no stock", async () => {}],
      ["nothing", undefined, async () => {}],
      ["an error after one of the database", new Error("no stock"), (executor) => executor.execute(failing).catch(() => {})],
    ])("rolls back and rejects with what its body rejected with: %s", async (_name, thrown, before) => {
      const transaction = transact(async (_trx, executor) => {
        await suite.queue.enqueue(executor, "chore", null);
        await before(executor);
        throw thrown;
      });
      const outcome = await outcomeOf(transaction);
      expect(outcome).toEqual({ error: thrown });
      expect("error" in outcome && outcome.error).toBe(thrown);
      expect(await kinds()).toEqual([]);
    });

    test("rejects with the error of its statement, whose SQLSTATE a caller finds", async () => {
      const outcome = await outcomeOf(transact((_trx, executor) => executor.execute(failing)));
      expect("error" in outcome && sqlStateOf(outcome.error)).toBe("22012");
    });

    test("rejects with the error of its commit when that fails, and leaves nothing", async () => {
      const table = await createTable(suite, "unique_values");
      await suite.run(`alter table ${table} add primary key (value) deferrable initially deferred`);
      const transaction = transact(async (_trx, executor) => {
        await suite.queue.enqueue(executor, "chore", null);
        for (let n = 0; n < 2; n++) await executor.execute({ sql: `insert into ${table} values ('once')`, parameters: [] });
      });
      const outcome = await outcomeOf(transaction);
      expect("error" in outcome && sqlStateOf(outcome.error)).toBe("23505");
      expect(await kinds()).toEqual([]);
    });

    test("lets jobs go with a nested transaction of the library that is rolled back, and keeps the others", async ({ skip }) => {
      const { adapter } = suite;
      await transact(async (trx, executor) => {
        const nested = async (n: number, after: (inner: Executor) => Promise<unknown> = async () => {}) => {
          if (adapter.nested === undefined) return skip("this adapter has no nested transactions");
          return adapter.nested(trx, async (innerTrx) => {
            const inner = suite.inHandler(innerTrx);
            await suite.queue.enqueue(inner, "errand", { n });
            await after(inner);
          });
        };
        await suite.queue.enqueue(executor, "errand", { n: 1 });
        await nested(2);
        await expect(nested(3, () => Promise.reject(new Error("no stock")))).rejects.toThrow("no stock");
        await expect(nested(3, (inner) => inner.execute(failing))).rejects.toThrow("division by zero");
        await suite.queue.enqueue(executor, "errand", { n: 4 });
      });
      expect((await suite.admin.jobs()).items.map(({ payload }) => payload)).toEqual([{ n: 4 }, { n: 2 }, { n: 1 }]);
    });

    test.each<[name: string, body: (trx: unknown, executor: Executor) => Promise<unknown>]>([
      ["of its executor", (_trx, executor) => executor.execute(failing).catch(() => {})],
      [
        "of the library's own transaction",
        (trx) =>
          suite
            .inHandler(trx)
            .execute(failing)
            .catch(() => {}),
      ],
      [
        "that others follow",
        (trx, executor) =>
          suite
            .inHandler(trx)
            .execute(failing)
            .catch(() => executor.execute(failing).catch(() => {})),
      ],
    ])("rejects when the error of a statement was swallowed: one %s", async (_name, body) => {
      const transaction = transact(async (trx, executor) => {
        await suite.queue.enqueue(suite.inHandler(trx), "chore", null);
        await body(trx, executor);
      });
      // Kysely looks by itself, and has an error of its own.
      const said = toDatabase(suite.db).adapter === "kysely" ? {} : { name: "QueueError", code: "DATABASE_ERROR", sqlState: "25P02" };
      expect(await outcomeOf(transaction)).toEqual({ error: expect.objectContaining(said) });
      expect(await kinds()).toEqual([]);
    });
  });

  describe("the connections of the database", () => {
    test.each<[name: string, attempt: (db: AdapterDatabase<unknown>, n: number) => Promise<unknown>]>([
      ["commits", (db) => db.transaction((_trx, executor) => suite.queue.enqueue(executor, "chore", null))],
      ["statements that fail", (db) => db.execute(failing)],
      ["transactions whose statement fails", (db) => db.transaction((_trx, executor) => executor.execute(failing))],
      ["transactions whose body fails", (db) => db.transaction(() => Promise.reject(new Error("no stock")))],
      [
        "transactions in which an error was swallowed",
        (db, n) =>
          db.transaction(async (_trx, executor) => {
            await executor.execute(failing).catch(() => {});
            if (n % 2 === 0) await executor.execute({ sql: "select 1 as ok", parameters: [] });
          }),
      ],
      [
        "commits that fail",
        (db) =>
          db.transaction(async (_trx, executor) => {
            await executor.execute({
              sql: "create temporary table once (value text primary key deferrable initially deferred) on commit drop",
              parameters: [],
            });
            await executor.execute({ sql: "insert into pg_temp.once values ('a'), ('a')", parameters: [] });
          }),
      ],
    ])("are all given back after fifty %s", async (name, attempt) => {
      const db = toDatabase(suite.db);
      const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => attempt(db, n)));
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set([name === "commits" ? "fulfilled" : "rejected"]));
      await onEveryConnection(db, ["select 1 as ok"]);
      expect(await kinds()).toHaveLength(name === "commits" ? 50 : 0);
    });
  });
}
