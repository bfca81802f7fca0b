import { describe, expect, test } from "vitest";
import { sqlStateOf } from "@queue/core/adapter";
import { toDatabase } from "@queue/core/internal";
import { createTable, type Suite } from "./suite.js";

/** What libraries are known to take for placeholders, escapes or JSON of their own. */
const awkward = `$1 $2 ? ?? \\? :name %s ' " \\ {"a":[1,2]} {1,2} [1]`;

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
      const table = await createTable(suite, "beside");
      await suite.committed(async (executor) => {
        const { rows } = await executor.execute({
          sql: `select $1::text as "camelCase", $2::int as int, $3::text as nothing, true as bool, $1::text as again, '$1 ? ?? \\?'::text as "a $2 ?",
            $4::text::jsonb::text as json, ($5::text::jsonb ? '?') as has, $6::text::int[]::text as list`,
          parameters: Object.freeze([awkward, 1, null, JSON.stringify([awkward]), '{"?": "$1"}', "{1,2}"]),
        });
        expect(rows).toEqual([
          {
            camelCase: awkward,
            int: 1,
            nothing: null,
            bool: true,
            again: awkward,
            "a $2 ?": "$1 ? ?? \\?",
            json: JSON.stringify([awkward]),
            has: true,
            list: "{1,2}",
          },
        ]);
        for (const sql of [
          `insert into ${table} values ($1::text) returning value`,
          `update ${table} set value = $1::text returning value`,
        ])
          expect((await executor.execute({ sql, parameters: [sql] })).rows).toEqual([{ value: sql }]);
        await suite.queue.enqueue(executor, "chore", null);
      });
      expect((await suite.admin.jobs()).items).toHaveLength(1);
    });

    test("leaves no prepared statement behind, which a pooler in transaction mode would give to others", async () => {
      await suite.committed(async (executor) => {
        await executor.execute({ sql: "select $1::text as mine", parameters: ["a"] });
        const { rows } = await executor.execute({
          sql: "select name from pg_prepared_statements where statement like '%as mine'",
          parameters: [],
        });
        expect(rows).toEqual([]);
      });
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

  test.each(["22012", "23505", "40001", "40P01", "42P01", "3F000", "P0001", "QU000"])(
    "SQLSTATE %s is where the queue finds it, in a transaction of the application, in one of the database, and alone",
    async (state) => {
      const failing = { sql: `do $$ begin raise 'no' using errcode = '${state}'; end $$`, parameters: [] };
      const db = toDatabase(suite.db);
      for (const fail of [
        () => suite.committed(async (executor) => void (await executor.execute(failing))),
        () => db.transaction((_trx, executor) => executor.execute(failing)),
        () => db.execute(failing),
      ]) {
        const error: unknown = await fail().catch((reason: unknown) => reason);
        expect(sqlStateOf(error)).toBe(state);
      }
    },
  );

  test.each<[name: string, given: unknown, part: RegExp]>([
    ["nothing", undefined, /undefined/],
    ["null", null, /null/],
    ["a connection string", "postgres://localhost", /"postgres:\/\/localhost"/],
    ["a forgotten await", Promise.resolve(), /an await is missing/],
    ["any object", {}, /an object/],
  ])("what is no transaction is refused, and named: %s", (_name, given, part) => {
    expect(() => suite.inHandler(given)).toThrow(
      expect.objectContaining({ name: "QueueError", code: "INVALID_OPTION", message: expect.stringMatching(part) }),
    );
  });
}
