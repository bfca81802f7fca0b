import type { QueueError } from "@queue/core";
import type { ClaimedRow, Kind } from "@queue/core/internal";

/** An attempt from its claim until its outcome is recorded. */
export interface RunningAttempt {
  readonly row: ClaimedRow;
  readonly id: string;
  readonly kind: Kind;
  /** The claim's number: with the worker's name, the fence. */
  readonly fence: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** When the handler was started, by the process's clock. */
  startedAtMs: number;
  /** Until when the lease holds for sure, by the process's clock: counted from before the statement was sent. */
  leaseUntilMs: number;
  /** Made when somebody asks for the signal, or aborts. */
  controller: AbortController | undefined;
  /** Why it was aborted; its outcome is judged by it. */
  abortedBy: QueueError | undefined;
  /** Its handler has been called: the attempt is spent. */
  isBegun: boolean;
  /** Its outcome is decided, and on its way into the table: a second one is not written. */
  isHandedOver: boolean;
  /** The row belongs to somebody else, or is gone: nothing may be written any more. */
  isLost: boolean;
}

/** An attempt as its claim returned it. */
export function newAttempt(
  row: ClaimedRow,
  kind: Kind,
  { startedAtMs, leaseUntilMs }: Pick<RunningAttempt, "startedAtMs" | "leaseUntilMs">,
): RunningAttempt {
  return {
    row,
    id: row.id,
    kind,
    fence: Number(row.claims),
    attempt: Number(row.attempts),
    maxAttempts: Number(row.max_attempts),
    startedAtMs,
    leaseUntilMs,
    controller: undefined,
    abortedBy: undefined,
    isBegun: false,
    isHandedOver: false,
    isLost: false,
  };
}

/** Aborts the attempt's signal. The first reason stays. */
export function abortAttempt(attempt: RunningAttempt, reason: QueueError): void {
  if (attempt.abortedBy !== undefined) return;
  attempt.abortedBy = reason;
  attempt.controller ??= new AbortController();
  attempt.controller.abort(reason);
}

/** Aborts it, and lets nothing of it be recorded: its job belongs to somebody else, or is gone. */
export function loseAttempt(attempt: RunningAttempt, reason: QueueError): void {
  attempt.isLost = true;
  abortAttempt(attempt, reason);
}

/** Everything this worker runs. */
export class RunningAttempts {
  readonly #all = new Set<RunningAttempt>();
  readonly #latest = new Map<string, RunningAttempt>();
  #waiting: (() => void)[] = [];

  /** Also when an earlier attempt of the job, whose lease was lost meanwhile, has not ended. */
  add(attempt: RunningAttempt): void {
    this.#all.add(attempt);
    this.#latest.set(attempt.id, attempt);
  }

  /** The latest attempt of the job. */
  get(id: string): RunningAttempt | undefined {
    return this.#latest.get(id);
  }

  delete(attempt: RunningAttempt): void {
    this.#all.delete(attempt);
    if (this.#latest.get(attempt.id) === attempt) this.#latest.delete(attempt.id);
    if (this.#all.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  all(): RunningAttempt[] {
    return [...this.#all];
  }

  get size(): number {
    return this.#all.size;
  }

  /** Resolves when there is none. */
  async whenEmpty(): Promise<void> {
    if (this.#all.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
