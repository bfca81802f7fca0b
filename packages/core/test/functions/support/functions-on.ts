import type pg from "pg";

export interface ClaimedJob {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  readonly priority: number;
  readonly payload: unknown;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly fence: number;
  readonly key: string | null;
  readonly created_at: Date;
  readonly run_at: Date;
}

interface ClaimArguments {
  readonly lanes?: readonly string[] | null;
  readonly kinds?: readonly string[];
  readonly maxJobs?: number;
  readonly worker?: string;
  readonly lease?: string;
}

/** The functions as a program calls them that knows nothing but SQL. */
export function functionsOn(pool: () => Pick<pg.Pool, "query">) {
  async function rows<TRow extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []): Promise<TRow[]> {
    return (await pool().query<TRow>(sql, [...values])).rows;
  }
  async function first<TRow extends pg.QueryResultRow>(sql: string, values: readonly unknown[]): Promise<TRow> {
    const [row] = await rows<TRow>(sql, values);
    if (row === undefined) throw new Error(`No row came of ${sql}`);
    return row;
  }
  const valueOf = async <T>(sql: string, values: readonly unknown[]): Promise<T> =>
    (await first<{ value: T }>(`select ${sql} as value`, values)).value;

  return {
    rows,
    valueOf,
    enqueue: (kind: string, payload: unknown = null, options: object = {}) =>
      first<{ id: string; inserted: boolean }>("select * from queue.enqueue($1, $2, $3)", [
        kind,
        JSON.stringify(payload),
        JSON.stringify(options),
      ]),
    enqueueMany: (items: readonly object[]) =>
      rows<{ item: number; id: string; inserted: boolean }>("select * from queue.enqueue_many($1)", [JSON.stringify(items)]),
    claim: ({ lanes = null, kinds = ["a"], maxJobs = 10, worker = "w1", lease = "1 minute" }: ClaimArguments = {}) =>
      rows<ClaimedJob>("select * from queue.claim($1, $2, $3, $4, $5) order by priority, run_at, id", [
        lanes,
        kinds,
        maxJobs,
        worker,
        lease,
      ]),
    complete: (job: Pick<ClaimedJob, "id" | "fence">, worker = "w1") =>
      valueOf<boolean>("queue.complete($1, $2, $3)", [worker, job.id, job.fence]),
    fail: (job: Pick<ClaimedJob, "id" | "fence">, error = "no", worker = "w1") =>
      valueOf<string | null>("queue.fail($1, $2, $3, $4)", [worker, job.id, job.fence, error]),
    sweep: () => rows("select * from queue.sweep()"),
    /** As the lease runs out. */
    expire: () => rows("update queue.jobs set locked_until = clock_timestamp() - interval '1 second' where status = 'running'"),
    job: (id: string) => first("select * from queue.all_jobs where id = $1", [id]),
  };
}
