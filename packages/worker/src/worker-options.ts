import type { Duration, JobDefinitions } from "@queue/core";
import type { AdapterDatabase, DatabaseTarget, Listener, TransactionOf } from "@queue/core/adapter";
import {
  checkInteger,
  checkLane,
  parseDuration,
  queueError,
  refuseUnknownOptions,
  resolveKinds,
  showValue,
  toDatabase,
  unknownKind,
  type Kind,
} from "@queue/core/internal";
import type { HandlersIn } from "./handler.js";
import { consoleLogger, type Logger, safeLogger } from "./logger.js";
import type { AnyHandler } from "./run/attempt-runner.js";
import { longestTimerMs } from "./time/clock.js";
import type { WorkerEvent } from "./worker-event.js";

type RefuseTransaction<TDb extends DatabaseTarget> = TDb extends { readonly isTransaction: true }
  ? { readonly "~error": "db must be a Kysely, not a Transaction: the worker begins its own" }
  : unknown;

export interface WorkerOptions<TJobs extends JobDefinitions, TDb extends DatabaseTarget> {
  readonly queue: { readonly jobs: TJobs; readonly schema: string };
  /** A Kysely, or what an adapter makes of another library's database; transactional handlers get its transactions. */
  readonly db: TDb & RefuseTransaction<NoInfer<TDb>>;
  /** One handler a kind, of all kinds or a part of them. Kinds without a handler here are not claimed. */
  readonly handlers: HandlersIn<NoInfer<TJobs>, TransactionOf<NoInfer<TDb>>>;
  /** Wakes the worker when jobs commit, on a connection of its own. Without it, or while it is down, the worker polls. */
  readonly listener?: Listener | undefined;
  /** The lanes to serve, or an object that gives each a ceiling of its own, under `concurrency`. @default every lane */
  readonly lanes?: readonly string[] | { readonly [lane: string]: { readonly concurrency: number } } | undefined;
  /** How many handlers may run at the same time. @default 10 */
  readonly concurrency?: number | undefined;
  /**
   * Whether jobs are claimed before there is a slot for them while handlers take less than 20 ms on average: some 20 ms of work,
   * at most 500, so that many quick jobs share a statement. None waits longer than 150 ms for a slot; what would is given back, for
   * another worker. A process that dies has spent an attempt of what it holds, begun or not: so jobs of transactional handlers are not
   * claimed ahead, and none by a worker that has a kind of a single attempt; nor with a `concurrency` of 1, where jobs begin in
   * their order. @default true
   */
  readonly prefetch?: boolean | undefined;
  /** How long a claim is honoured without a heartbeat: what a crash costs in time. At least twice the heartbeat. @default "30s" */
  readonly lease?: Duration | undefined;
  /** How often leases are extended. @default "10s", and at most a third of the lease */
  readonly heartbeat?: Duration | undefined;
  /** How often the table is looked at when nothing rings. @default "1s" */
  readonly pollInterval?: Duration | undefined;
  /** How often expired leases are returned, of any worker. @default "5s" */
  readonly sweepInterval?: Duration | undefined;
  /** How long `stop` waits for running handlers before it aborts their signals. @default "30s" */
  readonly shutdownGrace?: Duration | undefined;
  /** pino's shape. @default warnings and errors to the console */
  readonly logger?: Logger | undefined;
  /** Called for everything that happens, synchronously; what it throws is logged. */
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/** The options with defaults, in milliseconds. */
export interface ResolvedWorkerOptions {
  readonly schema: string;
  readonly db: AdapterDatabase<unknown>;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  readonly listener: Listener | undefined;
  readonly lanes: readonly string[] | undefined;
  readonly ceilings: ReadonlyMap<string, number>;
  readonly concurrency: number;
  readonly prefetch: boolean;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  readonly shutdownGraceMs: number;
  readonly logger: Logger;
  readonly onEvent: (event: WorkerEvent) => void;
}

const names = [
  "queue",
  "db",
  "handlers",
  "listener",
  "lanes",
  "concurrency",
  "prefetch",
  "lease",
  "heartbeat",
  "pollInterval",
  "sweepInterval",
  "shutdownGrace",
  "logger",
  "onEvent",
];
const largestConcurrency = 10_000;

/** @throws QueueError `INVALID_OPTION`, `UNKNOWN_KIND` */
export function resolveWorkerOptions(options: WorkerOptions<JobDefinitions, DatabaseTarget>): ResolvedWorkerOptions {
  refuseUnknownOptions(options, names, "createWorker");
  const { queue, db, listener, prefetch = true, logger = consoleLogger, onEvent = () => {} } = options;
  if (typeof queue !== "object" || queue === null || typeof queue.schema !== "string")
    throw invalid("queue", "made by createQueue()", queue);
  if (listener !== undefined && typeof listener?.listen !== "function")
    throw invalid("listener", "made by an adapter (pgListener …)", listener);
  if (!isLogger(logger)) throw invalid("logger", "an object with debug, info, warn and error", logger);
  if (typeof prefetch !== "boolean") throw invalid("prefetch", "true or false", prefetch);
  if (typeof onEvent !== "function") throw invalid("onEvent", "a function", onEvent);
  const kinds = resolveKinds(queue.jobs);
  const times = resolveTimes(options);
  const { lanes, ceilings } = resolveLanes(options.lanes);
  const handlers = resolveHandlers(options.handlers, kinds);
  const concurrency = checkInteger(options.concurrency === undefined ? 10 : options.concurrency, "concurrency", 1, largestConcurrency);
  return Object.freeze({
    schema: queue.schema,
    db: toDatabase(db),
    kinds,
    handlers,
    listener,
    lanes,
    ceilings,
    concurrency,
    prefetch: prefetch && mayPrefetch(concurrency, [...handlers.keys()], kinds),
    ...times,
    logger: safeLogger(logger),
    onEvent,
  });
}

/** With one slot jobs begin in their order, which two claims on their way would not keep; a single attempt is not risked by waiting. */
function mayPrefetch(concurrency: number, handled: readonly string[], kinds: ReadonlyMap<string, Kind>): boolean {
  return concurrency > 1 && handled.every((kind) => kinds.get(kind)?.options.maxAttempts !== 1);
}

function resolveTimes(options: WorkerOptions<JobDefinitions, DatabaseTarget>) {
  const time = (name: "lease" | "heartbeat" | "pollInterval" | "sweepInterval" | "shutdownGrace", standard: Duration, minMs: number) =>
    parseDuration(options[name] === undefined ? standard : options[name], name, { minMs, maxMs: longestTimerMs });
  const leaseMs = time("lease", "30s", 100);
  const heartbeatMs = time("heartbeat", Math.min(10_000, Math.floor(leaseMs / 3)), 10);
  if (heartbeatMs * 2 > leaseMs) {
    throw queueError(
      "INVALID_OPTION",
      `heartbeat (${heartbeatMs} ms) must be at most half of the lease (${leaseMs} ms), so that one late heartbeat loses no job.`,
      {
        option: "heartbeat",
      },
    );
  }
  return {
    leaseMs,
    heartbeatMs,
    pollIntervalMs: time("pollInterval", "1s", 1),
    sweepIntervalMs: time("sweepInterval", "5s", 1),
    shutdownGraceMs: time("shutdownGrace", "30s", 0),
  };
}

function resolveLanes(lanes: WorkerOptions<JobDefinitions, DatabaseTarget>["lanes"]) {
  if (lanes === undefined) return { lanes: undefined, ceilings: new Map<string, number>() };
  if (typeof lanes !== "object" || lanes === null) throw invalid("lanes", "an array of names, or an object of { concurrency }", lanes);
  const served = Array.isArray(lanes) ? (lanes as readonly string[]) : Object.keys(lanes);
  if (served.length === 0) throw invalid("lanes", "at least one lane; leave it out for all", lanes);
  for (const lane of served) checkLane(lane, "lanes");
  const entries = Array.isArray(lanes) ? [] : Object.entries(lanes as { readonly [lane: string]: { readonly concurrency: number } });
  const ceilings = new Map(
    entries.map(([lane, limits]) => {
      const option = `lanes[${JSON.stringify(lane)}]`;
      refuseUnknownOptions(limits, ["concurrency"], option);
      return [lane, checkInteger(limits.concurrency, `${option}.concurrency`, 1, largestConcurrency)];
    }),
  );
  return { lanes: [...new Set(served)], ceilings };
}

function resolveHandlers(handlers: unknown, kinds: ReadonlyMap<string, Kind>): ReadonlyMap<string, AnyHandler> {
  if (typeof handlers !== "object" || handlers === null) throw invalid("handlers", "an object of handlers by kind", handlers);
  const resolved = new Map<string, AnyHandler>();
  for (const [kind, handler] of Object.entries(handlers as Record<string, unknown>)) {
    if (!kinds.has(kind)) throw unknownKind(kind, kinds);
    if (handler === undefined) continue;
    if (!isHandler(handler)) throw invalid(`handlers[${JSON.stringify(kind)}]`, "a function, or { transactional: true, run }", handler);
    resolved.set(kind, handler);
  }
  return resolved;
}

function isLogger(logger: unknown): boolean {
  if (typeof logger !== "object" || logger === null) return false;
  return ["debug", "info", "warn", "error"].every((level) => typeof (logger as Record<string, unknown>)[level] === "function");
}

function isHandler(handler: unknown): handler is AnyHandler {
  if (typeof handler === "function") return true;
  if (typeof handler !== "object" || handler === null) return false;
  const { transactional, run } = handler as { transactional?: unknown; run?: unknown };
  return transactional === true && typeof run === "function";
}

function invalid(option: string, expected: string, given: unknown) {
  return queueError("INVALID_OPTION", `createWorker: ${option} must be ${expected}, but is ${showValue(given)}.`, { option });
}
