import type { Admin } from "../admin/admin.js";
import type { InputIn, KindIn } from "../job/infer.js";
import type { JobDefinitions } from "../job/job-definition.js";
import type { EnqueueTarget } from "../ports/kysely-like.js";
import type { EnqueueResult } from "./enqueue.js";
import type { EnqueueOptions } from "./enqueue-options.js";

/** One item of `enqueueMany`: a union discriminated by `kind`, so that a wrong payload is marked in its own item. */
export type EnqueueItem<TJobs extends JobDefinitions> = {
  [TKind in KindIn<TJobs>]: {
    readonly kind: TKind;
    readonly payload: InputIn<TJobs, TKind>;
    readonly options?: EnqueueOptions | undefined;
  };
}[KindIn<TJobs>];

/** One item of `enqueueMany` of a queue: `InferItem<typeof queue>`. */
export type InferItem<TQueue extends { readonly jobs: JobDefinitions }> = EnqueueItem<TQueue["jobs"]>;

/** The definition that producers and workers share. It holds no connection. */
export interface Queue<TJobs extends JobDefinitions, TSchema extends string = "queue"> {
  /** The database schema that the tables are in. */
  readonly schema: TSchema;
  readonly jobs: TJobs;

  /**
   * Writes a job in the caller's transaction: it runs if, and only if, that transaction commits. `db` is a Kysely, a
   * Transaction, or what an adapter makes of another library's transaction. Everything is checked before any SQL.
   *
   * @throws QueueError `UNKNOWN_KIND`, `INVALID_PAYLOAD`, `INVALID_OPTION`, `SCHEMA_MISSING`, `SCHEMA_TOO_OLD`,
   * `SCHEMA_TOO_NEW`; errors of the database pass unchanged, so that a caller can restart its transaction on 40001
   * @example await queue.enqueue(trx, "order.send-receipt", { orderId }, { key: `receipt-${orderId}` });
   */
  enqueue<TKind extends keyof TJobs & string>(
    db: EnqueueTarget,
    kind: TKind,
    payload: InputIn<TJobs, TKind>,
    options?: EnqueueOptions,
  ): Promise<EnqueueResult>;

  /**
   * Writes any number of jobs by one statement: one result per item, in order. `[]` sends nothing; of a key that comes twice,
   * the first wins; one invalid item rejects the whole call before any SQL, with its `index`.
   *
   * @throws QueueError as `enqueue`, with `index`
   */
  enqueueMany(db: EnqueueTarget, items: readonly EnqueueItem<TJobs>[]): Promise<EnqueueResult[]>;

  /** What an operator needs: look, retry, cancel, redrive, pause. */
  admin(db: EnqueueTarget): Admin<TJobs>;
}
