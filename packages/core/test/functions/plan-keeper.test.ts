import { describe, expect, test } from "vitest";
import { createWorkerStatements, PlanKeeper, runStatement, workerPlans } from "@queue/core/internal";

const statements = createWorkerStatements("queue");
const plans = workerPlans("queue", statements);
const completing = plans.find(({ statement }) => statement === statements.completeJobs);
const sqlError = (code: string) => Object.assign(new Error(`SQLSTATE ${code}`), { code });
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
  const keeper = new PlanKeeper("queue", plans);
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

  test("says what ended the caller's transaction, and not that it had ended", async () => {
    let answers = ["42883", "25P02"];
    const { sent, complete } = await keeperOf(
      plans.map(({ name }) => name),
      () => {
        const [code] = answers.splice(0, 1);
        if (code !== undefined) throw sqlError(code);
        return [{ id: "1" }];
      },
    );
    await expect(complete()).rejects.toMatchObject({ code: "42883" });
    expect(await complete()).toEqual([{ id: "1" }]);
    expect(sent.at(-1)).toBe(statements.completeJobs.sql);
    answers = ["57014"];
    await expect(complete()).rejects.toMatchObject({ code: "57014" });
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
