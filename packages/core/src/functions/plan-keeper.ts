import type { Executor } from "../ports/executor.js";
import { sqlStateOf } from "../ports/sql-state.js";
import { findFunctions } from "../store/find-functions.js";
import { runStatement, type Statement, toArrayLiteral } from "../store/statement.js";
import type { KeptPlan } from "./kept-plans.js";

/** undefined_function; insufficient_privilege */
const notCallable: ReadonlySet<string | undefined> = new Set(["42883", "42501"]);
const inFailedTransaction = "25P02";

/**
 * Calls functions of the schema in the place of the statements that they run, where they are there in one database: a session
 * plans those once. A migration leaves those of the release before; somebody may drop them all the same: then the statements are sent.
 */
export class PlanKeeper {
  readonly #schema: string;
  readonly #plans: ReadonlyMap<unknown, KeptPlan>;
  #found: ReadonlySet<string> = new Set();

  constructor(schema: string, plans: readonly KeptPlan[]) {
    this.#schema = schema;
    this.#plans = new Map(plans.map((plan) => [plan.statement, plan]));
  }

  /** Looks which functions may be called. */
  async find(executor: Executor): Promise<void> {
    if (this.#plans.size === 0) return;
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
      // It was not called, so nothing was written. Of all of them, because who drops one drops all.
      this.#found = new Set();
      return run(statement).catch((again: unknown) => {
        // The caller's transaction ended with the call: its error is the one that says why.
        throw sqlStateOf(again) === inFailedTransaction ? error : again;
      });
    }
  }
}
