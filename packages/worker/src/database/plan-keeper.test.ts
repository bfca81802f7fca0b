import { describe, expect, test } from "vitest";
import { keptPlans, runStatement } from "@queue/core/internal";
import { sqlError, statements } from "../../test/support/fake-database.js";
import { PlanKeeper } from "./plan-keeper.js";

const plans = keptPlans("queue", statements);
const completing = plans.find(({ statement }) => statement === statements.completeJobs);
const held = { ids: "{1}", fences: "{1}", keeps: "{-1}", worker: "w" };

/** A database that has the functions `there`, and answers each call by `answer`. */
async function keeperOf(there: readonly string[], answer: (sql: string) => unknown[] = () => []) {
  const sent: string[] = [];
  const executor = {
    adapter: "fake",
    execute: async <R>({ sql }: { readonly sql: string }) => {
      if (sql.includes("pg_proc")) return { rows: there.map((name) => ({ name })) as R[] };
      sent.push(sql);
      return { rows: answer(sql) as R[] };
    },
  };
  const keeper = new PlanKeeper("queue", statements);
  await keeper.find(executor);
  return { sent, complete: () => keeper.run(statements.completeJobs, (form) => runStatement(executor, form, held)) };
}

describe("PlanKeeper", () => {
  test("calls the function that is there, and sends the statement of one that is not", async () => {
    const all = await keeperOf(plans.map(({ name }) => name));
    await all.complete();
    expect(all.sent).toEqual([completing?.call.sql]);
    const none = await keeperOf(plans.filter((plan) => plan !== completing).map(({ name }) => name));
    await none.complete();
    expect(none.sent).toEqual([statements.completeJobs.sql]);
  });

  test.each(["42883", "42501"])("sends the statement when the function cannot be called any more (%s), and goes on so", async (code) => {
    const { sent, complete } = await keeperOf(
      plans.map(({ name }) => name),
      (sql) => {
        if (sql === completing?.call.sql) throw sqlError(code);
        return [{ id: "1" }];
      },
    );
    expect(await complete()).toEqual([{ id: "1" }]);
    await complete();
    expect(sent).toEqual([completing?.call.sql, statements.completeJobs.sql, statements.completeJobs.sql]);
  });

  test("leaves every other error to who asked, and sends nothing twice", async () => {
    const { sent, complete } = await keeperOf(
      plans.map(({ name }) => name),
      () => {
        throw sqlError("57P01");
      },
    );
    await expect(complete()).rejects.toMatchObject({ code: "57P01" });
    expect(sent).toHaveLength(1);
  });
});
