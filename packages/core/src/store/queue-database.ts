import type { ColumnType, Selectable } from "kysely";
import type { AllJobs, Effects, JobKeys, Jobs, JobsArchive, Lanes, Workers } from "./database.generated.js";

/** Readable in the application's queries; writing goes through the API. */
type ReadOnly<TTable> = { [C in keyof Selectable<TTable>]: ColumnType<Selectable<TTable>[C], never, never> };

/** The tables of a queue, for the application's own queries. */
export interface QueueTables {
  /** What is alive, and the dead letters. */
  jobs: ReadOnly<Jobs>;
  /** What is done or cancelled. */
  jobs_archive: ReadOnly<JobsArchive>;
  /** A view over both. */
  all_jobs: ReadOnly<AllJobs>;
  job_keys: ReadOnly<JobKeys>;
  lanes: ReadOnly<Lanes>;
  workers: ReadOnly<Workers>;
  effects: ReadOnly<Effects>;
}

type Camel<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Prefixed<TTables, TSchema extends string> = { [T in keyof TTables & string as `${TSchema}.${T}`]: TTables[T] };
type Camelized<TTables> = {
  [T in keyof TTables & string as Camel<T>]: { [C in keyof TTables[T] & string as Camel<C>]: TTables[T][C] };
};

/**
 * The queue's tables under their qualified names, so that an application's own Kysely joins its tables to the jobs.
 *
 * @example const db = new Kysely<ShopDatabase & QueueDatabase>({ … }); db.selectFrom("queue.all_jobs").select("status")
 */
export type QueueDatabase<TSchema extends string = "queue"> = Prefixed<QueueTables, TSchema>;

/** The same for applications that use Kysely's CamelCasePlugin. */
export type CamelCaseQueueDatabase<TSchema extends string = "queue"> = Prefixed<Camelized<QueueTables>, TSchema>;
