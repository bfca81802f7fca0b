import { type AdapterDatabase, type Executor, sqlStateOf } from "@queue/core/adapter";
import { type PlanKeeper, queueError, runStatement, type Statement } from "@queue/core/internal";
import { describeThrown } from "../run/describe-thrown.js";
import type { Clock } from "../time/clock.js";
import { withTimeout } from "../time/with-timeout.js";

export interface DatabaseOptions {
  readonly clock: Clock;
  /** An answer that takes longer is given up: the connection may have gone silent. */
  readonly patienceMs: number;
  /** A connection that heals by itself, the listener's, while it is up. */
  readonly fallback: () => Executor | undefined;
  readonly plans: PlanKeeper;
}

/** How long the pool is left alone after it has lost a statement; doubled each time, up to the second. */
const shortestAvoidanceMs = 2_000;
const longestAvoidanceMs = 60_000;

/**
 * Runs the worker's own statements, each in a transaction of its own at READ COMMITTED. Usually a statement that stands alone
 * is that already, in one round trip. Where the database's defaults say otherwise (isolation, read only), a transaction is
 * opened that states its own: under REPEATABLE READ a claim fails instead of skipping (389 of 1,000 in a trial).
 *
 * A pool keeps connections that have gone silent (a failover, a firewall that forgot them), and hands them out again and
 * again. When one has lost a statement, the next ones go over the listener's connection, which is watched and made anew, and
 * the pool is tried again later. The statement that was lost is not repeated here: it may have done its work, and its caller
 * knows what to do about that.
 */
export class Database {
  readonly executor: AdapterDatabase<unknown>;
  readonly #options: DatabaseOptions;
  #needsTransaction = false;
  #avoidUntilMs = Number.NEGATIVE_INFINITY;
  #avoidanceMs = shortestAvoidanceMs;

  constructor(db: AdapterDatabase<unknown>, options: DatabaseOptions) {
    this.executor = db;
    this.#options = options;
  }

  /** Reads the database's defaults, and which functions keep plans. */
  async prepare(): Promise<void> {
    const { rows } = await this.executor.execute<{ isolation: string; read_only: string }>({
      sql: "select pg_catalog.current_setting('transaction_isolation') as isolation, pg_catalog.current_setting('transaction_read_only') as read_only",
      parameters: [],
    });
    this.#needsTransaction = rows[0]?.isolation !== "read committed" || rows[0].read_only === "on";
    await this.#options.plans.find(this.executor);
  }

  /** Everything waits for its turn, as in an embedded database. */
  get hasOneConnection(): boolean {
    return this.executor.hasOneConnection === true;
  }

  /** Whether statements have to go through `run`, and not through an executor of their own. */
  get needsTransaction(): boolean {
    return this.#needsTransaction;
  }

  /** `onLate`: the answer came after it had been given up. */
  run<TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput, onLate = () => {}): Promise<TRow[]> {
    return this.#options.plans.run(statement, (form) => this.#run(form, input, onLate));
  }

  /** The same inside a handler's transaction, which has a connection and patience of its own. */
  runInside<TInput, TRow>(executor: Executor, statement: Statement<TInput, TRow>, input: TInput): Promise<TRow[]> {
    return this.#options.plans.run(statement, (form) => runStatement(executor, form, input));
  }

  async #run<TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput, onLate: () => void): Promise<TRow[]> {
    const { clock, fallback } = this.#options;
    const instead = !this.#needsTransaction && clock.now() < this.#avoidUntilMs ? fallback() : undefined;
    if (instead !== undefined) return runStatement(instead, statement, input);
    try {
      const rows = await this.#patiently(this.#runOnPool(statement, input), onLate);
      this.#avoidanceMs = shortestAvoidanceMs;
      return rows;
    } catch (error) {
      if (isConnectionLost(error)) this.#avoidPool();
      throw error;
    }
  }

  /** Where everything has one connection, an answer that is late waits for its turn. */
  async #patiently<T>(answer: Promise<T>, onLate: () => void): Promise<T> {
    if (this.hasOneConnection) return answer;
    let isGivenUp = false;
    answer.then(
      () => isGivenUp && onLate(),
      () => {}, // it is this promise that was given up; whoever waited has been told
    );
    try {
      return await withTimeout(answer, this.#options.patienceMs, this.#options.clock);
    } catch (error) {
      isGivenUp = true;
      throw error;
    }
  }

  #avoidPool(): void {
    // Of several statements that are lost together, one counts.
    if (this.#options.clock.now() < this.#avoidUntilMs) return;
    this.#avoidUntilMs = this.#options.clock.now() + this.#avoidanceMs;
    this.#avoidanceMs = Math.min(longestAvoidanceMs, this.#avoidanceMs * 2);
  }

  async #runOnPool<TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput): Promise<TRow[]> {
    if (this.#needsTransaction) return this.#runInTransaction(statement, input);
    try {
      return await runStatement(this.executor, statement, input);
    } catch (error) {
      // The defaults may change while we run. Nothing was written: the same statement, stating its own level, may succeed.
      if (!statesWrongDefaults(error)) throw error;
      this.#needsTransaction = true;
      return this.#runInTransaction(statement, input);
    }
  }

  #runInTransaction<TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput): Promise<TRow[]> {
    return this.executor.transaction((_trx, executor) => runStatement(executor, statement, input));
  }
}

/** serialization_failure, read_only_sql_transaction */
function statesWrongDefaults(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "40001" || state === "25006";
}

/** No SQLSTATE (the driver or our patience says so), connection_exception, operator_intervention. */
function isConnectionLost(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined || state.startsWith("08") || state.startsWith("57P");
}

/** A driver's error as ours: the one place where they are judged, by SQLSTATE and never by text. */
export function databaseError(what: string, cause: unknown) {
  const sqlState = sqlStateOf(cause);
  return queueError(
    "DATABASE_ERROR",
    `${what}: ${describeThrown(cause).message}`,
    { sqlState },
    { cause, isRetryable: isTransient(sqlState) },
  );
}

/** No SQLSTATE (the connection), or a class that says "try again": connection, resources, operator, rollback, lock, timeout. */
function isTransient(sqlState: string | undefined): boolean {
  return sqlState === undefined || ["08", "25", "40", "53", "55", "57"].includes(sqlState.slice(0, 2));
}
