import { type Executor, sqlStateOf } from "@queue/core/adapter";
import {
  findFunctions,
  type KeptPlan,
  keptPlans,
  runStatement,
  type Statement,
  toArrayLiteral,
  type WorkerStatements,
} from "@queue/core/internal";

/** undefined_function; insufficient_privilege */
const notCallable: ReadonlySet<string | undefined> = new Set(["42883", "42501"]);

/**
 * Calls functions of the schema in the place of the statements that they run, where they are there: a session plans those once.
 * Which are there is looked up when the worker starts. A migration may drop them while it runs: then the statements are sent.
 */
export class PlanKeeper {
  readonly #schema: string;
  readonly #plans: ReadonlyMap<unknown, KeptPlan>;
  #found: ReadonlySet<string> = new Set();

  constructor(schema: string, statements: WorkerStatements) {
    this.#schema = schema;
    this.#plans = new Map(keptPlans(schema, statements).map((plan) => [plan.statement, plan]));
  }

  /** Looks which functions may be called. */
  async find(executor: Executor): Promise<void> {
    const names = toArrayLiteral(Array.from(this.#plans.values(), ({ name }) => name));
    const rows = await runStatement(executor, findFunctions(this.#schema), { names });
    this.#found = new Set(rows.map(({ name }) => name));
  }

  /** Runs `statement`, or the call that does the same. */
  async run<TInput, TRow>(
    statement: Statement<TInput, TRow>,
    run: (statement: Statement<TInput, TRow>) => Promise<TRow[]>,
  ): Promise<TRow[]> {
    const plan = this.#plans.get(statement);
    if (plan === undefined || !this.#found.has(plan.name)) return run(statement);
    try {
      return await run(plan.call as Statement<TInput, TRow>);
    } catch (error) {
      if (!notCallable.has(sqlStateOf(error))) throw error;
      // It was not called, so nothing was written. Of all of them, because a migration replaces all.
      this.#found = new Set();
      return run(statement);
    }
  }
}
