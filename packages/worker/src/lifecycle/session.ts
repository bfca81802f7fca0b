import { QueueError } from "@queue/core";
import { type Executor, sqlStateOf, type Subscription } from "@queue/core/adapter";
import { createSchemaCheck, notificationChannel } from "@queue/core/internal";
import { parseNotification } from "../fetch/notification.js";
import { warnOfUnservedLanes } from "../fetch/warn-of-unserved-lanes.js";
import { transactionLimit } from "../run/transaction-limit.js";
import type { Clock } from "../time/clock.js";
import { deferred } from "../time/deferred.js";
import { withTimeout } from "../time/with-timeout.js";
import type { ResolvedWorkerOptions } from "../worker-options.js";
import { Services } from "./services.js";

/** After the abort, handlers have so long to end by themselves before their jobs are given back. */
const abortGraceMs = 500;
/** At a stop the database has so long to answer, in all: what it does not record by then is judged by the leases. */
const lastWordsMs = 5_000;
/** At a start it has a lease, and not less than this. */
const startPatienceMs = 10_000;

/** A worker between start and stop: in which order its services begin and end. */
export class Session {
  readonly worker: string;
  readonly #options: ResolvedWorkerOptions;
  readonly #clock: Clock;
  readonly #services: Services;
  #subscription: Subscription | undefined;
  /** How many attempts have ended. */
  #changes = 0;
  #changeWaiters: (() => void)[] = [];
  readonly #closing = deferred();
  #isClosing = false;
  #closed: Promise<boolean> | undefined;
  readonly #impatience = deferred();

  readonly #onUnusable: (error: unknown) => void;
  #checking: Promise<void> | undefined;
  /** Holds connections of the pool. */
  #measuring: Promise<unknown> = Promise.resolve();

  /** `onUnusable`: the tables are gone, or of another version; nothing can be done but to close. */
  constructor(options: ResolvedWorkerOptions, worker: string, pid: number, clock: Clock, onUnusable: (error: unknown) => void) {
    this.worker = worker;
    this.#options = options;
    this.#onUnusable = onUnusable;
    this.#clock = clock;
    this.#services = new Services({
      ...options,
      worker,
      pid,
      clock,
      listenersConnection: () => this.#listenersConnection(),
      onEnded: () => this.#changed(),
      onMissing: () => this.#checkSchema(),
    });
  }

  /** Checks the database and begins to hold leases, but claims nothing yet. */
  async open(): Promise<void> {
    await this.#patiently(Promise.resolve(createSchemaCheck(this.#options.schema)(this.#services.database.executor)));
    await this.#patiently(this.#services.database.prepare());
    if ([...this.#options.handlers.values()].some((handler) => typeof handler !== "function")) {
      const { database } = this.#services;
      const limit = transactionLimit({ ...this.#options, database, clock: this.#clock, stopped: this.#closing.promise });
      this.#measuring = limit;
      this.#services.limitTransactions(await this.#patiently(limit));
    }
    await this.#attempt(() => this.#patiently(this.#services.janitor.maintainPartitions()));
    this.#services.leaseKeeper.start();
  }

  /** Claims until it is closed. Resolves after the first claim, and when it listens. */
  async start(): Promise<void> {
    await this.open();
    warnOfUnservedLanes(this.#options, this.#services.lines, this.worker);
    await this.#listen();
    await this.#attempt(() => this.#patiently(this.#services.registrar.runOnce()));
    this.#services.registrar.start();
    this.#services.sweeper.start();
    this.#services.janitor.start();
    await this.#patiently(this.#services.fetcher.claimNow()).catch((error: unknown) => {
      // Without the rights to work it never will; anything else may pass.
      if (isForbidden(error)) throw error;
      if (!this.#isClosing) this.#services.reporter.error(error);
    });
    if (this.#isClosing) return;
    this.#services.fetcher.start();
    this.#services.lookout.start();
    this.#services.reporter.emit({ type: "worker.started", worker: this.worker });
  }

  /** Works until nothing is due and nothing runs, or until it is closed. */
  async runUntilIdle(): Promise<void> {
    await this.#services.sweeper.runOnce();
    while (!this.#isClosing) {
      const changes = this.#changes;
      await this.#services.fetcher.claimNow();
      // An attempt that ended meanwhile may have enqueued what this look did not see.
      if (this.#changes !== changes) continue;
      if (this.#services.attempts.size === 0) return;
      await Promise.race([this.#whenChanged(), this.#closing.promise]);
    }
  }

  /** Ends a start that is under way: what it waits for may never answer. */
  abortStart(): void {
    this.#isClosing = true;
    this.#closing.resolve();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Claims no more, waits for what runs, gives back what does not end, and closes everything. True when all ended by itself. */
  close(graceMs: number): Promise<boolean> {
    return (this.#closed ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<boolean> {
    this.abortStart();
    // One deadline: what waiting for a claim takes is not added to the grace of the handlers.
    const endsAtMs = this.#clock.now() + graceMs;
    this.#services.flow.giveBackWaiting();
    await this.#within(Promise.race([this.#services.fetcher.stop(), this.#impatience.promise]), graceMs);
    let isClean = await this.#whenEmptyWithin(Math.max(0, endsAtMs - this.#clock.now()));
    if (!isClean) {
      this.#services.flow.abortAll();
      isClean = await this.#whenEmptyWithin(abortGraceMs);
      if (!isClean) this.#services.flow.releaseAll();
    }
    await this.#sayLastWords();
    this.#services.reporter.emit({ type: "worker.stopped", worker: this.worker });
    return isClean;
  }

  /** All of it within one time, and each part begun, whatever becomes of the part before. */
  async #sayLastWords(): Promise<void> {
    const { settler, flow, refunder, reporter, leaseKeeper, sweeper, janitor, registrar, lookout } = this.#services;
    const endsAtMs = this.#clock.now() + Math.min(lastWordsMs, this.#options.leaseMs);
    const inTime = (words: Promise<unknown>) => this.#within(words, Math.max(0, endsAtMs - this.#clock.now()));
    await inTime(this.#measuring);
    await inTime(settler.drain());
    // From here on nothing is tried again: the application may end its pool, and a claim may still be answered.
    settler.abandon();
    this.#services.hearingCheck.stop();
    this.#services.bell.stop();
    const services = [leaseKeeper, sweeper, janitor, registrar, lookout, refunder].map((service) => service.stop());
    const ringing = flow.hasGivenBack ? this.#attempt(() => this.#services.othersBell.ringForAll()) : undefined;
    await inTime(Promise.all([ringing, reporter.drain(), ...services]));
    await inTime(
      Promise.resolve(this.#subscription?.close()).catch((error: unknown) => reporter.error(error, "Closing the listener failed")),
    );
    this.#subscription = undefined;
  }

  #listenersConnection(): Executor | undefined {
    return this.#subscription?.isUp === false ? undefined : this.#subscription?.executor;
  }

  /** Ends the grace of a close that is under way. */
  endGrace(): void {
    this.#impatience.resolve();
  }

  async #listen(): Promise<void> {
    const { listener, schema } = this.#options;
    if (listener === undefined) return;
    const listening = listener.listen(notificationChannel(schema), {
      onNotification: (payload) => this.#notified(payload),
      onListening: () => {
        // Its connection came up while it was being closed: the application may have ended its pool by now.
        if (this.#isClosing) return;
        this.#services.lookout.lookEverywhere();
        this.#services.bell.listening();
        this.#services.hearingCheck.start();
        this.#services.reporter.emit({ type: "worker.listening", worker: this.worker });
      },
      onError: (error) => this.#services.reporter.error(error, "Listening failed: polling until it works again"),
    });
    try {
      this.#subscription = await this.#patiently(listening);
      if (this.#services.hearingCheck.hears) this.#services.bell.heard();
    } catch (error) {
      // It may yet come about, when nobody waits for it any more.
      listening.then((subscription) => subscription.close()).catch(() => {});
      throw error;
    }
  }

  #notified(payload: string): void {
    const notification = parseNotification(payload);
    if (notification.type === "ping") this.#services.hearingCheck.heard(notification.worker);
    else if (notification.type === "cancel") void this.#services.leaseKeeper.confirm(notification.id);
    else if (notification.type === "any") this.#services.lookout.lookEverywhere();
    else if (this.#services.lines.isServed(notification.lane)) {
      this.#services.lines.add(notification, notification.since);
      if (!this.#services.bell.rang()) return;
      if (notification.isLater) this.#services.lookout.lookAndClaim();
      else this.#services.fetcher.wake();
    }
  }

  async #whenEmptyWithin(ms: number): Promise<boolean> {
    await this.#within(Promise.race([this.#services.attempts.whenEmpty(), this.#impatience.promise]), ms);
    return this.#services.attempts.size === 0;
  }

  /** Waits for `promise`, but not longer than `ms`: a stop ends also while the database does not answer. */
  async #within(promise: Promise<unknown>, ms: number): Promise<boolean> {
    return withTimeout(promise, ms, this.#clock).then(
      () => true,
      () => false,
    );
  }

  /** For the steps of a start, which end with a stop. */
  #patiently<T>(step: Promise<T>): Promise<T> {
    const patienceMs = Math.max(startPatienceMs, this.#options.leaseMs);
    const stopped = this.#closing.promise.then(() => Promise.reject(new Error("stopped")));
    return withTimeout(Promise.race([step, stopped]), patienceMs, this.#clock);
  }

  /** Told when a part of the schema is missing, once at a time. A migration may be under way; when the check passes, we go on. */
  #checkSchema(): void {
    if (this.#isClosing || this.#checking !== undefined) return;
    const { database, reporter } = this.#services;
    const check = Promise.resolve(createSchemaCheck(this.#options.schema)(database.executor));
    this.#checking = this.#patiently<unknown>(check)
      .then(() => {})
      .catch((error: unknown) => {
        if (this.#isClosing || !isUnusable(error)) return;
        reporter.unusable(error);
        this.#onUnusable(error);
      })
      .finally(() => (this.#checking = undefined));
  }

  #changed(): void {
    this.#changes += 1;
    for (const resolve of this.#changeWaiters.splice(0)) resolve();
  }

  async #whenChanged(): Promise<void> {
    await new Promise<void>((resolve) => this.#changeWaiters.push(resolve));
  }

  /** For what the worker can do without for now: reported, and tried again by its loop. */
  async #attempt<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      if (!this.#isClosing) this.#services.reporter.error(error);
      return undefined;
    }
  }
}

/** insufficient_privilege */
function isForbidden(error: unknown): boolean {
  return sqlStateOf(error) === "42501";
}

function isUnusable(error: unknown): error is QueueError {
  return QueueError.is(error) && ["SCHEMA_MISSING", "SCHEMA_TOO_OLD", "SCHEMA_TOO_NEW"].includes(error.code);
}
