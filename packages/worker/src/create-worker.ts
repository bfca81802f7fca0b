import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Duration, JobDefinitions } from "@queue/core";
import { parseDuration, queueError } from "@queue/core/internal";
import type { DatabaseTarget } from "@queue/core/adapter";
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
export function createWorker<TJobs extends JobDefinitions, TDb extends DatabaseTarget>(options: WorkerOptions<TJobs, TDb>): Worker {
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
  /** The last of the calls of runUntilIdle, which follow one another. */
  #idling: Promise<void> | undefined;
  /** Why it stopped by itself. */
  #failure: { readonly error: unknown } | undefined;
  #endGrace = () => {};
  #whenStopped: ((isClean: boolean) => void)[] = [];

  constructor(options: ResolvedWorkerOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    if (this.#idling !== undefined) return Promise.reject(worksAlready("runUntilIdle works: start the worker when it has resolved."));
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
      if (this.#failure !== undefined) throw this.#failure.error;
    } finally {
      forget();
    }
  }

  async runUntilIdle(): Promise<void> {
    const before = this.#idling;
    if (before === undefined && (this.#starting !== undefined || this.#stopping !== undefined)) {
      throw worksAlready("runUntilIdle works by itself: do not start the worker before.");
    }
    // What this caller has enqueued, a call that is under way may not see.
    const idling = (before ?? Promise.resolve()).catch(() => {}).then(() => this.#runUntilIdle());
    this.#idling = idling;
    try {
      await idling;
    } finally {
      if (this.#idling === idling) this.#idling = undefined;
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
    this.#failure = undefined;
    const session = this.#newSession();
    this.#session = session;
    try {
      await session.start();
    } catch (error) {
      // Whoever stopped it closes it.
      if (session.isClosing) return;
      this.#session = undefined;
      this.#starting = undefined;
      await session.close(0);
      throw error;
    }
  }

  async #runUntilIdle(): Promise<void> {
    // A stop ends the calls that wait for their turn, too.
    if (this.#stopping !== undefined) return;
    const session = this.#newSession();
    this.#session = session;
    this.#starting = session.open();
    try {
      await this.#starting;
      await session.runUntilIdle();
    } catch (error) {
      if (!session.isClosing) throw error;
    } finally {
      await session.close(this.#options.shutdownGraceMs);
      if (this.#stopping === undefined) this.#forgetSession();
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
      this.#forgetSession();
    }
  }

  #forgetSession(): void {
    this.#starting = undefined;
    this.#session = undefined;
  }

  async #close(graceMs: number): Promise<boolean> {
    const session = this.#session;
    if (session === undefined) return true;
    this.#endGrace = () => session.endGrace();
    session.abortStart();
    await this.#starting?.catch(() => {});
    const isClean = await session.close(graceMs);
    await this.#idling?.catch(() => {});
    return isClean;
  }

  #newSession(): Session {
    // Random for every start: host names and process ids come back, in containers at every restart.
    const worker = `${hostname().slice(0, 60)}:${processId()}:${randomUUID().replaceAll("-", "").slice(0, 12)}`;
    return new Session(this.#options, worker, processId(), systemClock, (error) => {
      this.#failure = { error };
      void this.#stop(this.#options.shutdownGraceMs);
    });
  }
}

function worksAlready(message: string) {
  return queueError("INVALID_OPTION", message, { option: "runUntilIdle" });
}
