import { enqueuePlans } from "../functions/enqueue-plans.js";
import type { Executor } from "../ports/executor.js";
import { sqlStateOf } from "../ports/sql-state.js";
import type { EnqueueKeyedRow } from "../store/enqueue-keyed-jobs.js";
import { createEnqueueStatements } from "../store/enqueue-statements.js";
import { runStatement, type Statement } from "../store/statement.js";
import { encodeRows, type PreparedJob } from "./encode-rows.js";
import { createSchemaCheck, missing, type SchemaCheck } from "./schema-check.js";

export interface EnqueueResult {
  /** The job's id; of a duplicate, the id of the job that has the key. */
  readonly id: string;
  /** False when the key was held and nothing was inserted. */
  readonly inserted: boolean;
}

/** Writes prepared jobs, in order, by one statement. */
export type Enqueue = (executor: Executor, jobs: readonly PreparedJob[]) => Promise<EnqueueResult[]>;

type Run = <TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput) => Promise<TRow[]>;

/** A key changes hands again while it is looked at again only under a storm of enqueues of that key. */
const longestContest = 20;

export function createEnqueue(schema: string): { readonly enqueue: Enqueue; readonly checkSchema: SchemaCheck } {
  const statements = createEnqueueStatements(schema);
  const checkSchema = createSchemaCheck(schema, enqueuePlans(schema, statements));

  async function insert(run: Run, jobs: readonly PreparedJob[]): Promise<EnqueueResult[]> {
    const [first] = jobs;
    if (jobs.length === 1 && first?.options.key === null) return insertOne(run, first);
    if (jobs.every(({ options }) => options.key === null)) {
      const rows = await run(statements.enqueueJobs, { rows: encodeRows(jobs, false) });
      return rows.map(({ id }) => ({ id, inserted: true }));
    }
    return insertKeyed(run, jobs);
  }

  async function insertOne(run: Run, { kind, payload, options }: PreparedJob): Promise<EnqueueResult[]> {
    const { lane, priority, max_attempts: maxAttempts, delay_ms: delayMs, run_at: runAt } = options;
    const job = { kind, payload, lane, priority, maxAttempts };
    const rows =
      delayMs === 0 && runAt === null
        ? await run(statements.enqueueDueJob, job)
        : await run(statements.enqueueJob, { ...job, delayMs, runAt });
    return rows.map(({ id }) => ({ id, inserted: true }));
  }

  async function insertKeyed(run: Run, jobs: readonly PreparedJob[]): Promise<EnqueueResult[]> {
    let rows: EnqueueKeyedRow[] = await run(statements.enqueueKeyedJobs, { rows: encodeRows(jobs, true) });
    for (let round = 0; round < longestContest && rows.some((row) => row.contested); round++) {
      const again = jobs.filter((_, index) => rows[index]?.contested);
      const answers = await run(statements.enqueueKeyedJobs, { rows: encodeRows(again, true) });
      rows = rows.map((row) => (row.contested ? (answers.shift() ?? row) : row));
    }
    return rows.map(({ id, inserted }) => ({ id, inserted }));
  }

  async function enqueue(executor: Executor, jobs: readonly PreparedJob[]): Promise<EnqueueResult[]> {
    if (jobs.length === 0) return [];
    const checked = checkSchema(executor);
    const plans = checked instanceof Promise ? await checked : checked;
    try {
      return await insert((statement, input) => plans.run(statement, (form) => runStatement(executor, form, input)), jobs);
    } catch (error) {
      throw isMissingTable(error) ? missing(schema, error) : error;
    }
  }

  return { enqueue, checkSchema };
}

/** undefined_table, invalid_schema_name */
function isMissingTable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "42P01" || state === "3F000";
}
