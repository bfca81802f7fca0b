/** `@queue/worker`: claims the jobs of a queue and runs them. */
export { createWorker } from "./create-worker.js";
export type {
  Handler,
  HandlerContext,
  HandlerResult,
  Handlers,
  TransactionalContext,
  TransactionalHandler,
  TransactionalRun,
} from "./handler.js";
export type { AdapterDatabase, DatabaseTarget, TransactionOf } from "@queue/core/adapter";
export type { Worker } from "./lifecycle/worker.js";
export type { Logger } from "./logger.js";
export type { OnceOptions, OnceResult } from "./run/once.js";
export { type Snooze, snooze } from "./run/snooze.js";
export type { WorkerEvent } from "./worker-event.js";
export type { WorkerOptions } from "./worker-options.js";
