import type { Executor } from "../ports/executor.js";
import { sqlStateOf } from "../ports/sql-state.js";
import { enqueueDueJob, enqueueJob } from "../store/enqueue-job.js";
import { enqueueJobs } from "../store/enqueue-jobs.js";
import { type EnqueueKeyedRow, enqueueKeyedJobs } from "../store/enqueue-keyed-jobs.js";
import { runStatement } from "../store/statement.js";
import { encodeRows, type PreparedJob } from "./encode-rows.js";
import { missing, type SchemaCheck } from "./schema-check.js";

export interface EnqueueResult {
  /** The job's id; of a duplicate, the id of the job that has the key. */
  readonly id: string;
  /** False when the key was held and nothing was inserted. */
  readonly inserted: boolean;
}

/** Writes prepared jobs, in order, by one statement. */
export type Enqueue = (executor: Executor, jobs: readonly PreparedJob[]) => Promise<EnqueueResult[]>;

/** A key changes hands again while it is looked at again only under a storm of enqueues of that key. */
const longestContest = 20;

export function createEnqueue(schema: string, checkSchema: SchemaCheck): Enqueue {
  const single = enqueueJob(schema);
  const singleDue = enqueueDueJob(schema);
  const plain = enqueueJobs(schema);
  const keyed = enqueueKeyedJobs(schema);

  async function insert(executor: Executor, jobs: readonly PreparedJob[]): Promise<EnqueueResult[]> {
    // The statements without keys are texts of their own: with them it is up to twice as slow.
    const [first] = jobs;
    if (jobs.length === 1 && first?.options.key === null) return insertOne(executor, first);
    if (jobs.every(({ options }) => options.key === null)) {
      const rows = await runStatement(executor, plain, { rows: encodeRows(jobs, false) });
      return rows.map(({ id }) => ({ id, inserted: true }));
    }
    return insertKeyed(executor, jobs);
  }

  async function insertOne(executor: Executor, { kind, payload, options }: PreparedJob): Promise<EnqueueResult[]> {
    const { lane, priority, max_attempts: maxAttempts, delay_ms: delayMs, run_at: runAt } = options;
    const job = { kind, payload, lane, priority, maxAttempts };
    const rows =
      delayMs === 0 && runAt === null
        ? await runStatement(executor, singleDue, job)
        : await runStatement(executor, single, { ...job, delayMs, runAt });
    return rows.map(({ id }) => ({ id, inserted: true }));
  }

  async function insertKeyed(executor: Executor, jobs: readonly PreparedJob[]): Promise<EnqueueResult[]> {
    let rows: EnqueueKeyedRow[] = await runStatement(executor, keyed, { rows: encodeRows(jobs, true) });
    for (let round = 0; round < longestContest && rows.some((row) => row.contested); round++) {
      const again = jobs.filter((_, index) => rows[index]?.contested);
      const answers = await runStatement(executor, keyed, { rows: encodeRows(again, true) });
      rows = rows.map((row) => (row.contested ? (answers.shift() ?? row) : row));
    }
    return rows.map(({ id, inserted }) => ({ id, inserted }));
  }

  return async (executor, jobs) => {
    if (jobs.length === 0) return [];
    const checking = checkSchema(executor);
    if (checking !== undefined) await checking;
    try {
      return await insert(executor, jobs);
    } catch (error) {
      throw isMissingTable(error) ? missing(schema, error) : error;
    }
  };
}

/** undefined_table, invalid_schema_name */
function isMissingTable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === "42P01" || state === "3F000";
}
