import { CamelCasePlugin, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { describe, expect, test } from "vitest";
import { thrownBy } from "../../test/support/thrown-by.js";
import type { Executor } from "./executor.js";
import { type EnqueueTarget, toExecutor } from "./kysely-like.js";

function kysely(): Kysely<Record<string, never>> {
  return new Kysely({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

describe("toExecutor", () => {
  test("takes what an adapter made as it is", () => {
    const executor: Executor = { adapter: "pg", execute: () => Promise.resolve({ rows: [] }) };
    expect(toExecutor(executor)).toBe(executor);
  });

  test("makes one of a Kysely, and of a Kysely with plugins or another schema", async () => {
    for (const db of [kysely(), kysely().withPlugin(new CamelCasePlugin()), kysely().withSchema("tenant")]) {
      const executor = toExecutor(db);
      expect(executor.adapter).toBe("kysely");
      await expect(executor.execute({ sql: "select 1", parameters: [] })).resolves.toMatchObject({ rows: [] });
    }
  });

  test("a Kysely and its transactions are one scope, another Kysely is another", async () => {
    const db = kysely();
    const scope = toExecutor(db).scope;
    expect(scope).toBeTypeOf("object");
    expect(toExecutor(db.withSchema("x").withPlugin(new CamelCasePlugin())).scope).toBe(scope);
    await db.transaction().execute(async (trx) => expect(toExecutor(trx).scope).toBe(scope));
    expect(toExecutor(kysely()).scope).not.toBe(scope);
  });

  test.each<[name: string, target: unknown, part: string]>([
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["a connection string", "postgres://localhost", '"postgres://localhost"'],
    ["a forgotten await", Promise.resolve(), "an await is missing"],
    ["a client of a driver", { query: () => {}, connect: () => {} }, "an object"],
    ["an execute() without an adapter's name", { execute: () => {} }, "an object"],
    ["an adapter without execute()", { adapter: "pg" }, "an object"],
    ["a query of Kysely", kysely().selectFrom("t" as never), "an object"],
  ])("refuses %s, and says what it takes", (_name, target, part) => {
    const error = thrownBy(() => toExecutor(target as EnqueueTarget));
    expect(error).toMatchObject({ code: "INVALID_OPTION", option: "db" });
    expect(error.message).toContain("must be a Kysely, a Transaction, or what an adapter makes of another library's (fromPg(client) …)");
    expect(error.message).toContain(part);
  });
});
