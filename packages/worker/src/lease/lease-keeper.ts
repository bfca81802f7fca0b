import type { Executor } from "@queue/core/adapter";
import { queueError, runStatement, type WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { Loop } from "../lifecycle/loop.js";
import { abortAttempt, loseAttempt, type RunningAttempt, type RunningAttempts } from "../run/running-attempt.js";
import type { Clock } from "../time/clock.js";
import { withTimeout } from "../time/with-timeout.js";

export interface LeaseKeeperOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "extendLeases" | "findEnded">;
  readonly worker: string;
  readonly clock: Clock;
  readonly attempts: RunningAttempts;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  /** The listener's connection, if it is up: heartbeats on it never wait for a pool that handlers have emptied. */
  readonly ownConnection: () => Executor | undefined;
  readonly onError: (error: unknown) => void;
  /** The event loop stood still for so long that heartbeats were late. */
  readonly onBlocked: (blockedMs: number) => void;
}

/**
 * Extends the leases of everything that this process runs, in one statement a heartbeat, and aborts what it cannot keep: jobs
 * that somebody else has by now, that were cancelled, or whose lease could not be confirmed before it ran out.
 */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #loop: Loop;
  readonly #guard: Loop;
  #dueAtMs: number;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#dueAtMs = options.clock.now() + options.heartbeatMs;
    this.#loop = new Loop({
      clock: options.clock,
      intervalMs: options.heartbeatMs,
      runOnce: () => this.runOnce(),
      onError: options.onError,
    });
    // Apart from the heartbeat, which may wait for an answer that never comes.
    this.#guard = new Loop({
      clock: options.clock,
      intervalMs: options.heartbeatMs / 2,
      runOnce: () => Promise.resolve(this.#abortUnconfirmed()),
      onError: options.onError,
    });
  }

  start(): void {
    this.#loop.start();
    this.#guard.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#loop.stop(), this.#guard.stop()]);
  }

  async runOnce(): Promise<void> {
    const { clock, heartbeatMs, leaseMs, attempts } = this.#options;
    const lateMs = clock.now() - this.#dueAtMs;
    this.#dueAtMs = clock.now() + heartbeatMs;
    if (lateMs > leaseMs / 2) this.#options.onBlocked(lateMs);
    const held = attempts.all().filter((attempt) => !attempt.isLost);
    if (held.length === 0) return;
    await this.#extend(held);
    this.#dueAtMs = clock.now() + heartbeatMs;
  }

  /** Somebody says that a job was cancelled: asks the table, now instead of at the next heartbeat. */
  async confirm(id: string): Promise<void> {
    const attempt = this.#options.attempts.get(id);
    if (attempt !== undefined) await this.#extend([attempt], true).catch(this.#options.onError);
  }

  async #extend(held: readonly RunningAttempt[], isSaidCancelled = false): Promise<void> {
    const { database, clock, leaseMs, heartbeatMs, attempts } = this.#options;
    const sentAtMs = clock.now();
    // On the only connection an answer that is late is waiting for its turn: a second question would only wait behind it.
    const rows = await (database.hasOneConnection ? this.#run(held) : withTimeout(this.#run(held), heartbeatMs, clock));
    const asked = new Map(held.map((attempt) => [attempt.id, attempt]));
    const gone: RunningAttempt[] = [];
    for (const { id, extended, held: isHeld } of rows) {
      const attempt = attempts.get(id);
      if (attempt === undefined || attempt !== asked.get(id)) continue;
      if (extended) attempt.leaseUntilMs = sentAtMs + leaseMs;
      else if (!isHeld) gone.push(attempt);
    }
    if (gone.length > 0) await this.#loseAll(gone, isSaidCancelled);
  }

  #run(held: readonly RunningAttempt[]) {
    const { database, statements, worker, leaseMs, heartbeatMs, clock, ownConnection } = this.#options;
    const input = {
      ids: `{${held.map(({ id }) => id).join(",")}}`,
      fences: `{${held.map(({ fence }) => fence).join(",")}}`,
      worker,
      leaseMs,
    };
    const own = database.needsTransaction ? undefined : ownConnection();
    if (own === undefined) return database.run(statements.extendLeases, input);
    // When the listener's connection is lost or silent, the pool may still answer in time; the statement is safe to repeat.
    return withTimeout(runStatement(own, statements.extendLeases, input), heartbeatMs / 2, clock).catch(() =>
      database.run(statements.extendLeases, input),
    );
  }

  async #loseAll(gone: readonly RunningAttempt[], isSaidCancelled: boolean): Promise<void> {
    const { database, statements } = this.#options;
    const ended = await database.run(statements.findEnded, { ids: `{${gone.map(({ id }) => id).join(",")}}` });
    const statuses = new Map(ended.map(({ id, status }) => [id, status]));
    for (const attempt of gone) {
      // Of a kind that is not kept, a cancelled job leaves no trace but what was said.
      const isGoneAsSaid = isSaidCancelled && attempt.kind.options.keepMs === undefined && !statuses.has(attempt.id);
      const isCancelled = statuses.get(attempt.id) === "cancelled" || isGoneAsSaid;
      loseAttempt(attempt, isCancelled ? cancelled(attempt.id) : leaseLost(attempt.id, "another worker has taken it over"));
    }
  }

  #abortUnconfirmed(): void {
    // Nobody else can have taken anything over where there is one connection.
    if (this.#options.database.hasOneConnection) return;
    const now = this.#options.clock.now();
    for (const attempt of this.#options.attempts.all()) {
      if (attempt.leaseUntilMs < now) abortAttempt(attempt, leaseUnconfirmed(attempt.id));
    }
  }
}

function cancelled(id: string) {
  return queueError("JOB_CANCELLED", `Job ${id} was cancelled while it ran.`, { jobId: id });
}

/** Not lost for sure: its outcome is recorded if nobody took the job over. */
function leaseUnconfirmed(id: string) {
  return queueError("LEASE_LOST", `The lease of job ${id} could not be extended in time: another worker may begin it.`, { jobId: id });
}

export function leaseLost(id: string, why: string) {
  return queueError("LEASE_LOST", `The lease of job ${id} is lost: ${why}. What this attempt does is not recorded.`, { jobId: id });
}
