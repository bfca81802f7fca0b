import { QueueError } from "@queue/core";
import { type Executor, sqlStateOf } from "@queue/core/adapter";
import { createWorkerStatements, PlanKeeper, workerPlans, type WorkerStatements } from "@queue/core/internal";
import { Database } from "../database/database.js";
import { Exchange } from "../exchange/exchange.js";
import { Bell } from "../fetch/bell.js";
import { Fetcher } from "../fetch/fetcher.js";
import { HearingCheck } from "../fetch/hearing-check.js";
import { Lines } from "../fetch/lines.js";
import { Lookout } from "../fetch/lookout.js";
import { OthersBell } from "../fetch/others-bell.js";
import { Prefetch } from "../fetch/prefetch.js";
import { LeaseKeeper } from "../lease/lease-keeper.js";
import { Janitor } from "../maintenance/janitor.js";
import { Registrar } from "../maintenance/registrar.js";
import { Sweeper } from "../maintenance/sweeper.js";
import { Reporter } from "../report/reporter.js";
import { AttemptRunner } from "../run/attempt-runner.js";
import { JobFlow } from "../run/job-flow.js";
import { OnceKeeper } from "../run/once.js";
import { RunningAttempts } from "../run/running-attempt.js";
import { Semaphore } from "../run/semaphore.js";
import { Slots } from "../run/slots.js";
import { Refunder } from "../settle/refunder.js";
import { Settler } from "../settle/settler.js";
import type { Clock } from "../time/clock.js";
import { DatabaseClock } from "../time/database-clock.js";
import type { ResolvedWorkerOptions } from "../worker-options.js";

export interface ServicesOptions extends ResolvedWorkerOptions {
  readonly worker: string;
  readonly pid: number;
  readonly clock: Clock;
  /** The listener's connection, while it is up. */
  readonly listenersConnection: () => Executor | undefined;
  /** An attempt has ended. */
  readonly onEnded: () => void;
  /** The database says that a part of the schema is not there. */
  readonly onMissing: () => void;
}

/**
 * The parts of a worker, wired together: what each does is in its own file; here is only who tells whom. A job goes fetcher →
 * flow → settler, and the lease keeper holds it from its claim until its outcome is written; the exchange carries outcomes and
 * claims to the database in one statement.
 */
export class Services {
  readonly database: Database;
  readonly statements: WorkerStatements;
  readonly reporter: Reporter;
  readonly attempts = new RunningAttempts();
  readonly lines: Lines;
  readonly lookout: Lookout;
  readonly bell: Bell;
  readonly fetcher: Fetcher;
  readonly settler: Settler;
  readonly flow: JobFlow;
  readonly refunder: Refunder;
  readonly leaseKeeper: LeaseKeeper;
  readonly sweeper: Sweeper;
  readonly janitor: Janitor;
  readonly registrar: Registrar;
  readonly hearingCheck: HearingCheck;
  readonly othersBell: OthersBell;
  readonly #options: ServicesOptions;
  readonly #exchange: Exchange;
  #transactions: Semaphore;
  #runner: AttemptRunner;

  constructor(options: ServicesOptions) {
    const { db, schema, worker, pid, clock, concurrency, ceilings, lanes, leaseMs, logger, listenersConnection } = options;
    const kinds = [...options.handlers.keys()];
    const onError = (error: unknown) => {
      this.reporter.error(error);
      if (isMissing(error)) options.onMissing();
    };
    const statements = createWorkerStatements(schema);
    const plans = new PlanKeeper(schema, workerPlans(schema, statements));
    const database = new Database(db, { clock, patienceMs: leaseMs, fallback: listenersConnection, plans });
    const common = { database, statements, worker, clock, onError };
    const databaseClock = new DatabaseClock(clock);
    this.reporter = new Reporter({ ...common, clock: databaseClock, logger, onEvent: options.onEvent });
    this.#options = options;
    this.database = database;
    this.statements = statements;
    const slots: Slots = new Slots(concurrency, ceilings, () => this.fetcher.onRoom());
    this.lines = new Lines(
      kinds.flatMap((kind) => {
        const known = options.kinds.get(kind);
        return known === undefined ? [] : [{ lane: known.options.lane, priority: known.options.priority }];
      }),
      lanes === undefined ? undefined : new Set(lanes),
      ceilings,
    );
    this.lookout = new Lookout({
      ...common,
      lines: this.lines,
      kinds,
      onFound: () => this.fetcher.wake(),
    });
    this.bell = new Bell({
      ...common,
      executor: listenersConnection,
      lanes,
      pollIntervalMs: options.pollIntervalMs,
      onPoll: () => {
        this.fetcher.wake();
        // While all slots are taken, nothing that a look finds could begin.
        if (this.fetcher.hasRoom) this.lookout.lookEvery(Math.min(mutedLookMs, options.pollIntervalMs / 2)).catch(onError);
      },
      onLook: () => this.lookout.lookEverywhere(),
    });
    this.othersBell = new OthersBell(common);
    const prefetch = new Prefetch({ isOn: options.prefetch, concurrency, clock });
    this.fetcher = new Fetcher({
      ...common,
      prefetch,
      lines: this.lines,
      lookout: this.lookout,
      slots,
      kinds,
      leaseMs,
      pollIntervalMs: options.pollIntervalMs,
      backlog: () => this.settler.backlog,
      known: () => this.attempts.all().map(({ id }) => id),
      concurrency,
      onWanted: () => this.#exchange.ring(),
      onClaimsLost: () => this.refunder.refundLost(),
      databaseClock,
      transactional: {
        kinds: new Set(kinds.filter((kind) => typeof options.handlers.get(kind) !== "function")),
        free: () => this.#transactions.free,
      },
      onClaimed: (row, sentAtMs) => this.flow.begin(row, sentAtMs),
      onAnswered: (count) => this.bell.claimed(count),
    });
    this.settler = new Settler({
      ...common,
      leaseMs,
      onCompletions: () => this.#exchange.ring(),
      onSettled: (attempt, outcome, isRecorded) => this.flow.settled(attempt, outcome, isRecorded),
    });
    this.#exchange = new Exchange({
      ...common,
      takeCompletions: () => this.settler.takeCompletions(),
      takeClaim: () => this.fetcher.takeClaim(),
    });
    this.refunder = new Refunder({ ...common, hasBegun: (id, attempt) => this.flow.hasBegun(id, attempt) });
    this.flow = new JobFlow({
      kinds: options.kinds,
      concurrency,
      leaseMs,
      clock,
      attempts: this.attempts,
      slots,
      reporter: this.reporter,
      run: (attempt) => this.#runner.run(attempt),
      settle: (attempt, outcome) => this.settler.settle(attempt, outcome),
      isStopping: () => this.fetcher.isStopping,
      onUnbegun: (attempt) => this.refunder.refund(attempt),
      onSlotFree: () => prefetch.noteEnded(),
      onWaitedTooLong: () => prefetch.rest(),
      onEnded: (dueInMs) => {
        options.onEnded();
        this.fetcher.onRoom();
        if (dueInMs !== undefined) this.lookout.lookAfter(dueInMs);
      },
      onGivenBack: (row, isForOthers) => {
        this.lines.add(row, Number(row.run_at));
        this.fetcher.wake();
        if (isForOthers) this.othersBell.add(row);
      },
    });
    this.leaseKeeper = new LeaseKeeper({
      ...common,
      attempts: this.attempts,
      leaseMs,
      heartbeatMs: options.heartbeatMs,
      ownConnection: listenersConnection,
      onBlocked: (blockedMs) =>
        logger.warn(
          { worker, blockedMs: Math.round(blockedMs) },
          "The event loop was blocked: heartbeats were late. Move long synchronous work into a worker thread.",
        ),
    });
    this.sweeper = new Sweeper({
      ...common,
      leaseMs,
      known: () =>
        this.attempts
          .all()
          .filter(({ isLost }) => !isLost)
          .map(({ id }) => id),
      intervalMs: options.sweepIntervalMs,
      othersNeedMs: options.heartbeatMs,
      onReturned: () => {
        this.lookout.lookEverywhere();
        this.othersBell.ringForAll().catch(onError);
      },
      // What others return keeps its place, below the cursors, and whoever hears nothing is not told of it.
      onSwept: () => {
        if (!this.hearingCheck.hears) this.lines.lookFarBelow();
      },
      onExpired: (job) => this.reporter.expired(job),
    });
    this.janitor = new Janitor({ ...common, logger });
    this.registrar = new Registrar({ ...common, intervalMs: options.heartbeatMs, kinds, lanes, pid });
    this.hearingCheck = new HearingCheck({
      ...common,
      onHeard: () => this.bell.heard(),
      onDeaf: () => this.reporter.error(new Error("no notification arrives"), deafLine),
    });
    this.#transactions = new Semaphore(concurrency);
    this.#runner = this.#createRunner();
  }

  /** So many transactional handlers may hold a connection at the same time from now on. */
  limitTransactions(transactions: number): void {
    this.#transactions = new Semaphore(transactions);
    this.#runner = this.#createRunner();
  }

  #createRunner(): AttemptRunner {
    const { schema, worker, handlers, logger, leaseMs, clock } = this.#options;
    return new AttemptRunner({
      database: this.database,
      schema,
      worker,
      handlers,
      statements: this.statements,
      once: new OnceKeeper(this.database, this.statements, worker, clock),
      transactions: this.#transactions,
      onNoTransaction: () => this.fetcher.noTransaction(),
      logger,
      clock,
      isLeaseOver: (attempt) => !this.database.hasOneConnection && attempt.leaseUntilMs < clock.now(),
      lateHandlerMs: leaseMs,
    });
  }
}

/** While enqueues do not ring, jobs of a line that is new, and what will be due, are noticed within so long. */
const mutedLookMs = 100;

const deafLine = "Listening, but hearing nothing, as through a pooler in transaction mode: polling. Give the listener a direct connection";

/** undefined_table, undefined_column, undefined_function, invalid_schema_name */
function isMissing(error: unknown): boolean {
  return ["42P01", "42703", "42883", "3F000"].includes(sqlStateOf(QueueError.is(error) ? error.cause : error) ?? "");
}
