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
  /** Its outcome is decided, and on its way into the table: a second one is not written. */
  isHandedOver: boolean;
  /** The row belongs to somebody else, or is gone: nothing may be written any more. */
  isLost: boolean;
}

/** Aborts the attempt's signal. The first reason stays. */
export function abortAttempt(attempt: RunningAttempt, reason: QueueError): void {
  if (attempt.abortedBy !== undefined) return;
  attempt.abortedBy = reason;
  attempt.controller ??= new AbortController();
  attempt.controller.abort(reason);
}

/** Everything this worker holds a lease on, by job id. */
export class RunningAttempts {
  readonly #byId = new Map<string, RunningAttempt>();
  #waiting: (() => void)[] = [];

  add(attempt: RunningAttempt): void {
    this.#byId.set(attempt.id, attempt);
  }

  get(id: string): RunningAttempt | undefined {
    return this.#byId.get(id);
  }

  /** Forgets it, unless a later attempt of the same job has taken its place. */
  delete(attempt: RunningAttempt): void {
    if (this.#byId.get(attempt.id) === attempt) this.#byId.delete(attempt.id);
    if (this.#byId.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  all(): RunningAttempt[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Resolves when there is none. */
  async whenEmpty(): Promise<void> {
    if (this.#byId.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
