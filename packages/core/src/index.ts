/** `@queue/core`: define a queue, enqueue in your own transaction, operate it. */
export { createQueue, type QueueOptions } from "./queue/create-queue.js";
export type { EnqueueItem, InferItem, Queue } from "./queue/queue.js";
export type { EnqueueOptions } from "./queue/enqueue-options.js";
export type { EnqueueResult } from "./queue/enqueue.js";
export {
  job,
  type Backoff,
  type JobDefinition,
  type JobDefinitions,
  type JobOptions,
  type JsonInputSchema,
} from "./job/job-definition.js";
export type { Priority } from "./job/job-options.js";
export type { Duration } from "./job/duration.js";
export type { JsonCheck, JsonPayload, JsonValue, NotJson } from "./job/json-value.js";
export type { HasJobs, InferJob, InferKind, InferPayload, InferPayloadInput, Job } from "./job/infer.js";
export type { StandardSchemaV1 } from "./job/standard-schema.js";
export type { EnqueueTarget, KyselyLike } from "./ports/kysely-like.js";
export type { Executor } from "./ports/executor.js";
export type { Listener } from "./ports/listener.js";
export type { Admin, JobFilter, Page, RedriveFilter, RedriveResult } from "./admin/admin.js";
export type { LaneHealth, QueueHealth } from "./admin/health.js";
export type { JobFailure, JobRecord } from "./admin/job-record.js";
export type { CamelCaseQueueDatabase, QueueDatabase, QueueTables } from "./store/queue-database.js";
export { PermanentError } from "./errors/permanent-error.js";
export { QueueError, type QueueErrorCode, type QueueErrorDetails } from "./errors/queue-error.js";
export { RetryAfterError } from "./errors/retry-after-error.js";
