import type { JobDefinition, JobDefinitions } from "./job-definition.js";

/** Anything with definitions: a queue. */
export interface HasJobs {
  readonly jobs: JobDefinitions;
}

export type KindIn<TJobs> = keyof TJobs & string;

/**
 * Wrapped in a tuple, so that the conditional type is not distributed: read through `["~types"]`, the payload literal of every
 * call would meet the union of all payloads, and five hundred kinds would take seconds to check.
 */
export type InputIn<TJobs extends JobDefinitions, TKind extends KindIn<TJobs>> = [TJobs[TKind]] extends [
  JobDefinition<infer TInput, unknown>,
]
  ? TInput
  : never;
export type PayloadIn<TJobs extends JobDefinitions, TKind extends KindIn<TJobs>> = [TJobs[TKind]] extends [
  JobDefinition<unknown, infer TPayload>,
]
  ? TPayload
  : never;

/** The kinds of a queue: `InferKind<typeof queue>`. */
export type InferKind<TQueue extends HasJobs> = KindIn<TQueue["jobs"]>;

/** What a handler gets: the schema's output. The bound of `TKind` is written out, so that an unknown kind is answered with the known. */
export type InferPayload<TQueue extends HasJobs, TKind extends keyof TQueue["jobs"] & string> = PayloadIn<TQueue["jobs"], TKind>;

/** What `enqueue` takes and the table stores: the schema's input. */
export type InferPayloadInput<TQueue extends HasJobs, TKind extends keyof TQueue["jobs"] & string> = InputIn<TQueue["jobs"], TKind>;

/** What a handler's first parameter is; over several kinds a union that narrows by `kind`. */
export type InferJob<TQueue extends HasJobs, TKind extends keyof TQueue["jobs"] & string> = TKind extends unknown
  ? Job<TKind, InferPayload<TQueue, TKind>>
  : never;

/** A claimed job, as its handler sees it. */
export interface Job<TKind extends string, TPayload> {
  /** A bigint in the database, a string here: a JavaScript number would round it above 2^53. */
  readonly id: string;
  readonly kind: TKind;
  readonly payload: TPayload;
  readonly lane: string;
  /** Which start of the handler this is, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The idempotency key that it was enqueued with. */
  readonly key: string | null;
  readonly createdAt: Date;
  /** When it was due. */
  readonly runAt: Date;
}
