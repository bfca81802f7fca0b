import { createWorkerStatements, PlanKeeper, type Statement, workerPlans } from "@queue/core/internal";
import { Database } from "../../src/database/database.js";
import { type Clock, systemClock } from "../../src/time/clock.js";

export const statements = createWorkerStatements("queue");

export interface SentStatement {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** A database behind a fake of the executor port: what is sent to it is recorded, and answered by the test. */
export interface FakeDatabase {
  readonly database: Database;
  readonly sent: readonly SentStatement[];
  /** What was bound, for each time the statement was sent. */
  sentOf<TInput, TRow>(statement: Statement<TInput, TRow>): (readonly unknown[])[];
  /** Answers a statement from now on; what has no answer comes back empty. */
  answer<TInput, TRow>(statement: Statement<TInput, TRow>, rows: (parameters: readonly unknown[]) => TRow[] | Promise<TRow[]>): void;
}

interface FakeDatabaseOptions {
  /** As an embedded database, whose dialect says so. */
  readonly hasOneConnection?: boolean;
  readonly clock?: Clock;
  readonly patienceMs?: number;
}

export function fakeDatabase({
  hasOneConnection = false,
  clock = systemClock,
  patienceMs = 60_000,
}: FakeDatabaseOptions = {}): FakeDatabase {
  const sent: SentStatement[] = [];
  const answers = new Map<string, (parameters: readonly unknown[]) => unknown[] | Promise<unknown[]>>();
  const executor = {
    adapter: "fake",
    hasOneConnection,
    async execute<R>(statement: SentStatement): Promise<{ rows: R[] }> {
      sent.push(statement);
      return { rows: ((await answers.get(statement.sql)?.(statement.parameters)) as R[] | undefined) ?? [] };
    },
    transaction: () => Promise.reject(new Error("Nobody should ask for a transaction here.")),
  };
  return {
    database: new Database(executor, {
      clock,
      patienceMs,
      fallback: () => undefined,
      plans: new PlanKeeper("queue", workerPlans("queue", statements)),
    }),
    sent,
    sentOf: (statement) => sent.filter(({ sql }) => sql === statement.sql).map(({ parameters }) => parameters),
    answer: (statement, rows) => void answers.set(statement.sql, rows),
  };
}

/** The ids that a statement was bound to: the first of its array literals. */
export function idsIn(parameters: readonly unknown[]): string[] {
  const literal = parameters.find((parameter) => typeof parameter === "string" && parameter.startsWith("{"));
  return String(literal).slice(1, -1).split(",").filter(Boolean);
}

/** A driver's error. */
export function sqlError(code: string): Error {
  return Object.assign(new Error(`SQLSTATE ${code}`), { code });
}
