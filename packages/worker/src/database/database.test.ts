import { describe, expect, test } from "vitest";
import { PlanKeeper, toDatabase, workerPlans } from "@queue/core/internal";
import { sqlError, statements } from "../../test/support/fake-database.js";
import { fakeClock } from "../../test/support/fake-clock.js";
import { Database, databaseError } from "./database.js";

const input = { worker: "w" };

/** A Kysely, by shape, that says how each statement was run. */
function aKysely(answer: (how: "alone" | "in a transaction", sql: string) => unknown[] | Promise<never>) {
  const ran: string[] = [];
  const clock = fakeClock();
  const listener = { adapter: "listener", execute: async <R>() => (ran.push("on the listener's connection"), { rows: [] as R[] }) };
  let isListening = true;
  const kysely = (how: "alone" | "in a transaction"): object => ({
    isTransaction: how === "in a transaction",
    insertInto() {},
    executeQuery: async ({ sql }: { readonly sql: string }) => {
      if (sql === statements.forgetWorker.sql) ran.push(how);
      return { rows: await answer(how, sql) };
    },
    withoutPlugins: () => kysely(how),
    transaction: () => ({
      setIsolationLevel: (level: string) => ({
        setAccessMode: (mode: string) => ({
          execute: (body: (trx: object) => Promise<unknown>) => {
            ran.push(`${level}, ${mode}`);
            return body(kysely("in a transaction"));
          },
        }),
      }),
    }),
  });
  const plans = new PlanKeeper("queue", workerPlans("queue", statements));
  const options = { clock, patienceMs: 1_000, fallback: () => (isListening ? listener : undefined), plans };
  return { database: new Database(toDatabase(kysely("alone") as never), options), ran, clock, stopListening: () => (isListening = false) };
}

const defaults = (isolation: string, read_only = "off") => [{ isolation, read_only }];

describe("Database", () => {
  test("runs a statement alone where the database's defaults are the usual ones", async () => {
    const { database, ran } = aKysely((_how, sql) => (sql.includes("current_setting") ? defaults("read committed") : [{ id: "w" }]));
    await database.prepare();
    expect(await database.run(statements.forgetWorker, input)).toEqual([{ id: "w" }]);
    expect([ran, database.needsTransaction]).toEqual([["alone"], false]);
  });

  test.each([
    ["repeatable read", "off"],
    ["serializable", "off"],
    ["read committed", "on"],
  ])("B30: runs it in a transaction that states its own where they are %s, read-only %s", async (isolation, readOnly) => {
    const { database, ran } = aKysely((_how, sql) => (sql.includes("current_setting") ? defaults(isolation, readOnly) : []));
    await database.prepare();
    await database.run(statements.forgetWorker, input);
    expect(ran).toEqual(["read committed, read write", "in a transaction"]);
    expect(database.needsTransaction).toBe(true);
  });

  test.each(["40001", "25006"])("finds out when they change while it runs, by %s, and sends the statement again", async (code) => {
    const { database, ran } = aKysely((how) => {
      if (how === "alone") throw sqlError(code);
      return [];
    });
    await database.run(statements.forgetWorker, input);
    await database.run(statements.forgetWorker, input);
    expect(ran).toEqual(["alone", ...Array.from({ length: 2 }, () => ["read committed, read write", "in a transaction"]).flat()]);
  });

  test("leaves every other error to who asked", async () => {
    const { database, ran } = aKysely(() => {
      throw sqlError("42P01");
    });
    await expect(database.run(statements.forgetWorker, input)).rejects.toMatchObject({ code: "42P01" });
    await expect(database.run(statements.forgetWorker, input)).rejects.toMatchObject({ code: "42P01" });
    expect(ran).toEqual(["alone", "alone"]);
  });
});

describe("a pool that loses statements", () => {
  const forget = (database: Database) => database.run(statements.forgetWorker, input);

  test("is left alone for a while, longer each time, and the listener's connection does its work", async () => {
    const { database, ran, clock } = aKysely(() => {
      throw sqlError("57P01");
    });
    await expect(forget(database)).rejects.toMatchObject({ code: "57P01" });
    await forget(database);
    clock.advance(2_000);
    await expect(forget(database)).rejects.toMatchObject({ code: "57P01" });
    clock.advance(3_999);
    await forget(database);
    clock.advance(1);
    await expect(forget(database)).rejects.toMatchObject({ code: "57P01" });
    expect(ran).toEqual(["alone", "on the listener's connection", "alone", "on the listener's connection", "alone"]);
  });

  test("is asked all the same when there is no listener, or it is down", async () => {
    const { database, ran, stopListening } = aKysely(() => {
      throw new Error("read ECONNRESET");
    });
    stopListening();
    await expect(forget(database)).rejects.toThrow("ECONNRESET");
    await expect(forget(database)).rejects.toThrow("ECONNRESET");
    expect(ran).toEqual(["alone", "alone"]);
  });

  test("is not waited for for ever", async () => {
    const { database, clock } = aKysely(() => new Promise<never>(() => {}));
    const answer = forget(database).catch((error: unknown) => error);
    await clock.advanceSlowly(1_000);
    expect(await answer).toMatchObject({ message: expect.stringContaining("1000 ms") });
  });
});

describe("databaseError", () => {
  test.each([
    ["08006", true],
    ["25P03", true],
    ["40001", true],
    ["40P01", true],
    ["53300", true],
    ["55P03", true],
    ["57014", true],
    ["57P01", true],
    ["57P05", true],
    ["22021", false],
    ["23503", false],
    ["42P01", false],
    ["42501", false],
    ["P0001", false],
  ])("says by its SQLSTATE whether it is worth a retry: %s, %s", (code, isRetryable) => {
    const cause = sqlError(code);
    expect(databaseError("Claiming failed", cause)).toMatchObject({ code: "DATABASE_ERROR", sqlState: code, isRetryable, cause });
  });

  test("takes an error without one for the connection's, which is worth a retry", () => {
    for (const cause of [new Error("read ECONNRESET"), Object.assign(new Error("x"), { code: "ECONNREFUSED" }), "text", undefined]) {
      expect(databaseError("Claiming failed", cause)).toMatchObject({ sqlState: undefined, isRetryable: true });
    }
    expect(databaseError("Claiming failed", new Error("read ECONNRESET")).message).toBe("Claiming failed: read ECONNRESET");
  });
});
