/** `@queue/core/adapter`: what the author of an adapter needs. */
export { queueError, QueueError, type QueueErrorCode, type QueueErrorDetails } from "./errors/queue-error.js";
export { showValue } from "./errors/show-value.js";
export { type Duration, parseDuration } from "./job/duration.js";
export { checkInteger, refuseUnknownOptions } from "./job/job-options.js";
export type { AdapterDatabase, DatabaseTarget, KyselyDatabase, TransactionOf } from "./ports/adapter-database.js";
export type { ExecutableQuery, Executor } from "./ports/executor.js";
export type { EnqueueTarget, KyselyLike } from "./ports/kysely-like.js";
export type { Listener, ListenerEvents, Subscription } from "./ports/listener.js";
export { sqlStateOf } from "./ports/sql-state.js";
