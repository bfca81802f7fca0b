import { queueError } from "../errors/queue-error.js";
import { editionOf } from "../functions/function-steps.js";
import type { KeptPlan } from "../functions/kept-plans.js";
import { PlanKeeper } from "../functions/plan-keeper.js";
import { schemaMigrations } from "../migrations/all-migrations.js";
import type { Executor } from "../ports/executor.js";
import { appliedMigrations, findMigrationsTable } from "../store/applied-migrations.js";
import { runStatement } from "../store/statement.js";

/**
 * Checks the version of the tables before the first statement on a database, and says which plans it keeps. Not a promise when that was
 * done: an enqueue whose `await` was forgotten has to reach the connection in the tick of its call, while the transaction is open.
 */
export type SchemaCheck = (executor: Executor) => Promise<PlanKeeper> | PlanKeeper;

/**
 * A check that looks once per database: a statement on tables that are not there would abort the caller's transaction, and its
 * business writes with it. The look-ups that it makes cannot fail that way. Only a good answer is remembered.
 */
export function createSchemaCheck(schema: string, plans: readonly KeptPlan[] = []): SchemaCheck {
  const checked = new WeakMap<object, PlanKeeper>();
  const find = findMigrationsTable(schema);
  const list = appliedMigrations(schema);
  async function look(executor: Executor, scope: object): Promise<PlanKeeper> {
    const [table] = await runStatement(executor, find, {});
    if (table?.found == null) throw missing(schema);
    judge(schema, await runStatement(executor, list, {}));
    const keeper = new PlanKeeper(schema, plans);
    await keeper.find(executor);
    checked.set(scope, keeper);
    return keeper;
  }

  return (executor) => {
    const scope = executor.scope ?? executor;
    return checked.get(scope) ?? look(executor, scope);
  };
}

/** The error for tables that are not there. */
export function missing(schema: string, cause?: unknown) {
  return queueError(
    "SCHEMA_MISSING",
    `The tables of the queue are not in schema ${JSON.stringify(schema)} of this database. Run \`await migrate(db, queue)\` (from "@queue/core/migrations") once, when you deploy.`,
    { schema },
    { cause },
  );
}

function judge(schema: string, rows: readonly { name: string; breaks: "yes" | "no" }[]): void {
  // What calls functions sends statements where they are not there, so neither their absence nor another edition matters.
  const names = new Set(rows.map((row) => row.name).filter((name) => editionOf(name) === undefined));
  const expected = schemaMigrations.at(-1)?.name ?? "";
  const found = [...names].sort().at(-1) ?? "nothing";
  if (schemaMigrations.some((migration) => !names.has(migration.name))) {
    throw queueError(
      "SCHEMA_TOO_OLD",
      `The tables in schema ${JSON.stringify(schema)} are at ${found}; this version of the package needs ${expected}. Run \`await migrate(db, queue)\`${names.size === 0 ? "; or, if that was done, let this role see the rows of its table migrations (row level security)" : ""}.`,
      { schema, expected, found },
    );
  }
  const known = new Set(schemaMigrations.map((migration) => migration.name));
  const breaking = rows.find((row) => row.breaks === "yes" && !known.has(row.name));
  if (breaking !== undefined) {
    throw queueError(
      "SCHEMA_TOO_NEW",
      `The tables in schema ${JSON.stringify(schema)} are at ${found}, and ${breaking.name} does not work with this version of the package, which knows ${expected}. Deploy the newer package.`,
      { schema, expected, found },
    );
  }
}
