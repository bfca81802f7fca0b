import type { Backlog, SystemOptions } from "./system.js";

/** When a job started, by the steady clock. */
export interface Start {
  readonly id: number;
  readonly at: number;
}

/** How long a claim took, from its call to its rows. */
export interface ClaimTime {
  readonly ms: number;
  readonly rows: number;
}

export interface Progress {
  /** Handlers that were called. */
  readonly started: number;
  /** When the first and the last of them were, by the steady clock. */
  readonly firstAt: number;
  readonly lastAt: number;
}

/** What the bench asks of a side's process. Every side answers the same. */
export interface RunnerCommands {
  open(options: SystemOptions): Promise<{ readonly retryDelayMs: number; readonly canEnqueueInTransaction: boolean }>;
  install(): Promise<void>;
  preload(plan: { readonly jobs: number; readonly firstId: number; readonly payloadBytes?: number }): Promise<void>;
  insertBacklog(plan: { readonly backlog: Backlog; readonly jobs: number }): Promise<void>;
  /** One transaction; the moment before its commit was sent. */
  enqueueTogether(plan: { readonly jobs: number; readonly firstId: number }): Promise<number>;
  /** The moment of the call. */
  enqueueOne(plan: { readonly id: number; readonly delayMs?: number; readonly failOnce?: boolean }): Promise<number>;
  /** Enqueues at a steady rate, whatever the answers do; the moment of each call, in the order of the ids. */
  arrive(plan: { readonly perSecond: number; readonly ms: number; readonly firstId: number }): Promise<readonly number[]>;
  /** One transaction after another on each connection. */
  flood(plan: {
    readonly connections: number;
    readonly ms: number;
    readonly firstId: number;
  }): Promise<{ readonly transactions: number; readonly ms: number }>;
  /** Starts the worker; `record`: keep the moment of every start, for `takeStarts`. */
  work(plan: { readonly record: boolean }): Promise<void>;
  progress(): Promise<Progress>;
  /** Waits until that many handlers were called since the worker started, or the time is over. */
  waitStarted(plan: { readonly jobs: number; readonly timeoutMs: number }): Promise<Progress>;
  /** Waits until nothing is left to do; the moment, by the steady clock. */
  waitDrained(plan: { readonly timeoutMs: number }): Promise<number>;
  /** Starts since the last call; failing ones are told apart. */
  takeStarts(): Promise<{ readonly starts: readonly Start[]; readonly failures: readonly Start[] }>;
  takeClaims(): Promise<readonly ClaimTime[]>;
  /** After a full garbage collection. */
  memory(): Promise<{ readonly heapBytes: number; readonly rssBytes: number }>;
  stop(): Promise<void>;
}

export interface Request {
  readonly number: number;
  readonly command: keyof RunnerCommands;
  readonly argument: unknown;
}

export type Reply = { readonly number: number; readonly result: unknown } | { readonly number: number; readonly error: string };
