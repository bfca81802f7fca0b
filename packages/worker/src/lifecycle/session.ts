import type { Executor, Subscription } from "@queue/core/adapter";
import { type ClaimedRow, createSchemaCheck, createWorkerStatements, notificationChannel, queueError } from "@queue/core/internal";
import { Database } from "../database/database.js";
import { Fetcher } from "../fetch/fetcher.js";
import { Lines } from "../fetch/lines.js";
import { parseNotification } from "../fetch/notification.js";
import { LeaseKeeper, leaseLost } from "../lease/lease-keeper.js";
import { Janitor } from "../maintenance/janitor.js";
import { Registrar } from "../maintenance/registrar.js";
import { Sweeper } from "../maintenance/sweeper.js";
import { Reporter } from "../report/reporter.js";
import { AttemptRunner } from "../run/attempt-runner.js";
import type { Outcome } from "../run/decide-outcome.js";
import { OnceKeeper } from "../run/once.js";
import { abortAttempt, loseAttempt, newAttempt, type RunningAttempt, RunningAttempts } from "../run/running-attempt.js";
import { Semaphore } from "../run/semaphore.js";
import { Slots } from "../run/slots.js";
import { transactionLimit } from "../run/transaction-limit.js";
import { Settler } from "../settle/settler.js";
import type { Clock } from "../time/clock.js";
import { withTimeout } from "../time/with-timeout.js";
import type { ResolvedWorkerOptions } from "../worker-options.js";

/** After the abort, handlers have so long to end by themselves before their jobs are given back. */
const abortGraceMs = 500;

/**
 * A worker between start and stop: the services, wired together. What each does is in its own file; here is only who tells
 * whom. A job goes fetcher → runner → settler, and the lease keeper holds it from its claim until its outcome is written.
 */
export class Session {
  readonly worker: string;
  readonly #options: ResolvedWorkerOptions;
  readonly #clock: Clock;
  readonly #database: Database;
  readonly #statements: ReturnType<typeof createWorkerStatements>;
  readonly #reporter: Reporter;
  readonly #attempts = new RunningAttempts();
  readonly #slots: Slots;
  readonly #lines: Lines;
  readonly #fetcher: Fetcher;
  readonly #settler: Settler;
  readonly #leaseKeeper: LeaseKeeper;
  readonly #sweeper: Sweeper;
  readonly #janitor: Janitor;
  readonly #registrar: Registrar;
  #runner: AttemptRunner;
  #subscription: Subscription | undefined;
  /** How many attempts have ended. */
  #changes = 0;
  #changeWaiters: (() => void)[] = [];
  readonly #impatience = deferred();
  #hasGivenBack = false;

  constructor(options: ResolvedWorkerOptions, worker: string, pid: number, clock: Clock) {
    const { db, schema, concurrency, ceilings, lanes, leaseMs, logger } = options;
    const kinds = [...options.handlers.keys()];
    const onError = (error: unknown) => this.#reporter.error(error);
    const database = new Database(db, { clock, patienceMs: leaseMs, fallback: () => this.#listenersConnection() });
    const statements = createWorkerStatements(schema);
    const common = { database, statements, worker, clock, onError };
    this.#reporter = new Reporter({ ...common, logger, onEvent: options.onEvent });
    this.worker = worker;
    this.#options = options;
    this.#clock = clock;
    this.#database = database;
    this.#statements = statements;
    this.#slots = new Slots(concurrency, ceilings, () => this.#fetcher.onRoom());
    this.#lines = new Lines(
      kinds.flatMap((kind) => {
        const known = options.kinds.get(kind);
        return known === undefined ? [] : [{ lane: known.options.lane, priority: known.options.priority }];
      }),
      lanes === undefined ? undefined : new Set(lanes),
      ceilings,
    );
    this.#fetcher = new Fetcher({
      ...common,
      lines: this.#lines,
      slots: this.#slots,
      kinds,
      leaseMs,
      pollIntervalMs: options.pollIntervalMs,
      backlog: () => this.#settler.backlog,
      known: () => this.#attempts.all().map(({ id }) => id),
      concurrency,
      onClaimed: (row, sentAtMs) => this.#begin(row, sentAtMs),
    });
    this.#settler = new Settler({ ...common, onSettled: (attempt, outcome, isRecorded) => this.#settled(attempt, outcome, isRecorded) });
    this.#leaseKeeper = new LeaseKeeper({
      ...common,
      attempts: this.#attempts,
      leaseMs,
      heartbeatMs: options.heartbeatMs,
      ownConnection: () => this.#listenersConnection(),
      onBlocked: (blockedMs) =>
        logger.warn(
          { worker, blockedMs: Math.round(blockedMs) },
          "The event loop was blocked: heartbeats were late. Move long synchronous work into a worker thread.",
        ),
    });
    this.#sweeper = new Sweeper({
      ...common,
      known: () =>
        this.#attempts
          .all()
          .filter(({ isLost }) => !isLost)
          .map(({ id }) => id),
      intervalMs: options.sweepIntervalMs,
      onReturned: () => {
        this.#fetcher.lookEverywhere();
        void this.#ringOthers();
      },
      emit: (event) => this.#reporter.emit(event),
    });
    this.#janitor = new Janitor({ ...common, logger });
    this.#registrar = new Registrar({ ...common, intervalMs: options.heartbeatMs, kinds, lanes, pid });
    this.#runner = this.#createRunner(concurrency);
  }

  /** Checks the database and begins to hold leases, but claims nothing yet. */
  async open(): Promise<void> {
    await createSchemaCheck(this.#options.schema)(this.#database.executor);
    await this.#database.prepare();
    if ([...this.#options.handlers.values()].some((handler) => typeof handler !== "function")) {
      this.#runner = this.#createRunner(await transactionLimit({ ...this.#options, database: this.#database, clock: this.#clock }));
    }
    await this.#attempt(() => this.#janitor.maintainPartitions());
    this.#leaseKeeper.start();
  }

  /** Claims until it is closed. Resolves after the first claim, and when it listens. */
  async start(): Promise<void> {
    await this.open();
    this.#warnOfUnservedLanes();
    await this.#listen();
    await this.#attempt(() => this.#registrar.runOnce());
    this.#registrar.start();
    this.#sweeper.start();
    this.#janitor.start();
    await this.#attempt(() => this.#fetcher.runOnce());
    this.#fetcher.start();
    this.#reporter.emit({ type: "worker.started", worker: this.worker });
  }

  /** Works until nothing is due and nothing runs. */
  async runUntilIdle(): Promise<void> {
    await this.#sweeper.runOnce();
    for (;;) {
      const changes = this.#changes;
      this.#fetcher.lookEverywhere();
      await this.#fetcher.runOnce();
      // An attempt that ended meanwhile may have enqueued what this look did not see.
      if (this.#changes !== changes) continue;
      if (this.#attempts.size === 0) return;
      await this.#whenChanged();
    }
  }

  /** Claims no more, waits for what runs, gives back what does not end, and closes everything. True when all ended by itself. */
  async close(graceMs: number): Promise<boolean> {
    // One deadline: what waiting for a claim takes is not added to the grace of the handlers.
    const endsAtMs = this.#clock.now() + graceMs;
    await this.#within(Promise.race([this.#fetcher.stop(), this.#impatience.promise]), graceMs);
    let isClean = await this.#whenEmptyWithin(Math.max(0, endsAtMs - this.#clock.now()));
    if (!isClean) {
      this.#abortAll();
      isClean = await this.#whenEmptyWithin(abortGraceMs);
      if (!isClean) this.#releaseAll();
    }
    await this.#within(this.#settler.drain(), this.#options.leaseMs);
    if (this.#hasGivenBack) await this.#within(this.#ringOthers(), abortGraceMs);
    // From here on nothing is tried again: the application may end its pool, and a claim may still be answered.
    this.#settler.abandon();
    await this.#within(this.#reporter.drain(), this.#options.leaseMs);
    await Promise.all([this.#leaseKeeper.stop(), this.#sweeper.stop(), this.#janitor.stop(), this.#registrar.stop()]);
    await this.#subscription?.close();
    this.#subscription = undefined;
    this.#reporter.emit({ type: "worker.stopped", worker: this.worker });
    return isClean;
  }

  #listenersConnection(): Executor | undefined {
    return this.#subscription?.isUp === false ? undefined : this.#subscription?.executor;
  }

  /** Others sleep until their poll otherwise: what is put back rings for nobody by itself. */
  #ringOthers(): Promise<unknown> {
    return this.#attempt(() => this.#database.run(this.#statements.ringWorkers, {}));
  }

  /** Ends the grace of a close that is under way. */
  endGrace(): void {
    this.#impatience.resolve();
  }

  #begin(row: ClaimedRow, sentAtMs: number): void {
    const kind = this.#options.kinds.get(row.kind);
    if (kind === undefined) throw new TypeError(`Claimed the kind ${JSON.stringify(row.kind)}, which was not asked for.`);
    const attempt = newAttempt(row, kind, { startedAtMs: this.#clock.now(), leaseUntilMs: sentAtMs + this.#options.leaseMs });
    // Returned to the queue while it ran here: by a sweep, after this process stood still for a lease.
    const before = this.#attempts.get(row.id);
    if (before !== undefined) loseAttempt(before, leaseLost(row.id, "it ran out, and the job was claimed again"));
    this.#attempts.add(attempt);
    // Claimed by a statement that was on its way when the stop began: never started, so it costs no attempt.
    if (this.#fetcher.isStopping) this.#handOver(attempt, { type: "released", isAttemptSpent: false });
    else void this.#run(attempt);
  }

  async #run(attempt: RunningAttempt): Promise<void> {
    const { lane } = attempt.row;
    this.#slots.take(lane);
    this.#reporter.started(attempt);
    const result = await this.#runner.run(attempt);
    // The slot is free when the handler has returned, not when its outcome has landed.
    this.#slots.release(lane);
    if (result.type === "unsettled") this.#handOver(attempt, result.outcome);
    else if (result.type === "settled") this.#settled(attempt, result.outcome, true);
    else if (!attempt.isHandedOver) this.#settled(attempt, { type: "done" }, false);
  }

  /** The first outcome counts: a job that was given back at a stop is not completed by a handler that returns later. */
  #handOver(attempt: RunningAttempt, outcome: Outcome): void {
    if (attempt.isHandedOver) return;
    attempt.isHandedOver = true;
    this.#settler.settle(attempt, outcome);
  }

  #settled(attempt: RunningAttempt, outcome: Outcome, isRecorded: boolean): void {
    this.#attempts.delete(attempt);
    this.#changed();
    this.#fetcher.onRoom();
    if (!isRecorded) return this.#reporter.refused(attempt, outcome);
    // The trigger rings for new jobs only: what this process put back, it looks after itself.
    if ("delayMs" in outcome && outcome.delayMs !== undefined) this.#fetcher.lookAfter(outcome.delayMs);
    if (outcome.type === "released") this.#hasGivenBack = true;
    this.#reporter.recorded(attempt, outcome);
  }

  /** Handlers of kinds whose own lane this worker does not serve: meant, when another worker does, and a slip otherwise. */
  #warnOfUnservedLanes(): void {
    const { handlers, kinds, lanes, logger } = this.#options;
    const unserved = [...handlers.keys()].filter((kind) => !this.#lines.isServed(kinds.get(kind)?.options.lane ?? ""));
    if (unserved.length === 0) return;
    logger.warn(
      { worker: this.worker, kinds: unserved, lanes },
      "Handlers wait for kinds whose lane is not among the worker's lanes: only jobs enqueued into another lane reach them.",
    );
  }

  async #listen(): Promise<void> {
    const { listener, schema } = this.#options;
    if (listener === undefined) return;
    this.#subscription = await listener.listen(notificationChannel(schema), {
      onNotification: (payload) => this.#notified(payload),
      onListening: () => {
        this.#fetcher.lookEverywhere();
        this.#reporter.emit({ type: "worker.listening", worker: this.worker });
      },
      onError: (error) => this.#reporter.error(error, "Listening failed: polling until it works again"),
    });
  }

  #notified(payload: string): void {
    const notification = parseNotification(payload);
    if (notification.type === "cancel") void this.#leaseKeeper.confirm(notification.id);
    else if (notification.type === "any") this.#fetcher.lookEverywhere();
    else if (this.#lines.isServed(notification.lane)) {
      this.#lines.add(notification);
      if (notification.isLater) this.#fetcher.lookEverywhere();
      else this.#fetcher.wake();
    }
  }

  #createRunner(transactions: number): AttemptRunner {
    const { db, schema, handlers, logger, leaseMs } = this.#options;
    return new AttemptRunner({
      db,
      schema,
      worker: this.worker,
      handlers,
      statements: this.#statements,
      once: new OnceKeeper(this.#database, this.#statements, this.#clock),
      transactions: new Semaphore(transactions),
      logger,
      clock: this.#clock,
      lateHandlerMs: leaseMs,
    });
  }

  #abortAll(): void {
    for (const attempt of this.#attempts.all()) {
      abortAttempt(
        attempt,
        queueError("WORKER_STOPPING", `The worker stops, and its grace is over: job ${attempt.id} is given back.`, { jobId: attempt.id }),
      );
    }
  }

  /** Handlers that go on all the same: their fence no longer holds, and another worker may begin at once. */
  #releaseAll(): void {
    for (const attempt of this.#attempts.all()) this.#handOver(attempt, { type: "released", isAttemptSpent: attempt.isBegun });
  }

  async #whenEmptyWithin(ms: number): Promise<boolean> {
    await this.#within(Promise.race([this.#attempts.whenEmpty(), this.#impatience.promise]), ms);
    return this.#attempts.size === 0;
  }

  /** Waits for `promise`, but not longer than `ms`: a stop ends also while the database does not answer. */
  async #within(promise: Promise<unknown>, ms: number): Promise<boolean> {
    return withTimeout(promise, ms, this.#clock).then(
      () => true,
      () => false,
    );
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
      this.#reporter.error(error);
      return undefined;
    }
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
