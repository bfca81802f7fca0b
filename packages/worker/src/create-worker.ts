import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Duration, JobDefinitions } from "@queue/core";
import { parseDuration, queueError } from "@queue/core/internal";
import type { WorkerDatabase } from "./database/worker-database.js";
import { Session } from "./lifecycle/session.js";
import { markUnclean, onStopSignal, processId } from "./lifecycle/stop-signals.js";
import type { Worker } from "./lifecycle/worker.js";
import { longestTimerMs, systemClock } from "./time/clock.js";
import { type ResolvedWorkerOptions, resolveWorkerOptions, type WorkerOptions } from "./worker-options.js";

/**
 * Makes a worker. It does nothing until it is started, and touches nothing of the process unless `run` is called.
 *
 * @throws QueueError `INVALID_OPTION` naming the option; `UNKNOWN_KIND` for a handler of a kind that the queue does not define
 * @example
 * const worker = createWorker({ queue, db, handlers: { "order.send-receipt": async (job, ctx) => { … } } });
 * await worker.run();
 */
export function createWorker<TJobs extends JobDefinitions, TDb extends WorkerDatabase>(options: WorkerOptions<TJobs, TDb>): Worker {
  return new QueueWorker(resolveWorkerOptions(options));
}

/** Two signals within it are one. */
const sameSignalMs = 500;

class QueueWorker implements Worker {
  readonly #options: ResolvedWorkerOptions;
  #session: Session | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<boolean> | undefined;
  /** A start that waits for the stop. */
  #restarting: Promise<void> | undefined;
  #endGrace = () => {};
  #whenStopped: ((isClean: boolean) => void)[] = [];

  constructor(options: ResolvedWorkerOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    if (this.#stopping !== undefined) return (this.#restarting ??= this.#startAfter(this.#stopping));
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async stop({ grace }: { readonly grace?: Duration | undefined } = {}): Promise<void> {
    await this.#stop(grace === undefined ? this.#options.shutdownGraceMs : parseDuration(grace, "grace", { maxMs: longestTimerMs }));
  }

  async run(): Promise<void> {
    let firstSignalAtMs: number | undefined;
    // A signal stops the worker; and so may anybody else.
    let onFailed = (_error: unknown) => {};
    const ended = new Promise<boolean>((resolve, reject) => {
      this.#whenStopped.push(resolve);
      onFailed = reject;
    });
    const forget = onStopSignal(() => {
      const now = systemClock.now();
      // One Ctrl-C may arrive twice: from the terminal, and from the npm script that started us.
      if (firstSignalAtMs !== undefined && now - firstSignalAtMs > sameSignalMs) this.#endGrace();
      if (firstSignalAtMs === undefined) this.#stop(this.#options.shutdownGraceMs).catch(onFailed);
      firstSignalAtMs ??= now;
    });
    try {
      await this.start();
      if (!(await ended)) markUnclean();
    } finally {
      forget();
    }
  }

  async runUntilIdle(): Promise<void> {
    if (this.#starting !== undefined || this.#stopping !== undefined) {
      throw queueError("INVALID_OPTION", "runUntilIdle works by itself: do not start the worker before.", { option: "runUntilIdle" });
    }
    const session = this.#newSession();
    await session.open();
    try {
      await session.runUntilIdle();
    } finally {
      await session.close(this.#options.shutdownGraceMs);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #startAfter(stopping: Promise<unknown>): Promise<void> {
    await stopping.catch(() => {});
    this.#restarting = undefined;
    await this.start();
  }

  async #start(): Promise<void> {
    const session = this.#newSession();
    this.#session = session;
    try {
      await session.start();
    } catch (error) {
      this.#session = undefined;
      this.#starting = undefined;
      await session.close(0);
      throw error;
    }
  }

  async #stop(graceMs: number): Promise<boolean> {
    if (this.#restarting !== undefined) {
      await this.#restarting.catch(() => {});
      return this.#stop(graceMs);
    }
    if (this.#stopping !== undefined) return this.#stopping;
    if (this.#starting === undefined) return true;
    this.#stopping = this.#close(graceMs);
    try {
      const isClean = await this.#stopping;
      for (const resolve of this.#whenStopped.splice(0)) resolve(isClean);
      return isClean;
    } finally {
      this.#stopping = undefined;
      this.#starting = undefined;
      this.#session = undefined;
    }
  }

  async #close(graceMs: number): Promise<boolean> {
    // A stop during the start waits for it: half of a start cannot be undone.
    await this.#starting?.catch(() => {});
    const session = this.#session;
    if (session === undefined) return true;
    this.#endGrace = () => session.endGrace();
    return session.close(graceMs);
  }

  #newSession(): Session {
    // Random for every start: host names and process ids come back, in containers at every restart.
    const worker = `${hostname().slice(0, 60)}:${processId()}:${randomUUID().replaceAll("-", "").slice(0, 12)}`;
    return new Session(this.#options, worker, processId(), systemClock);
  }
}
