import { withDeadline } from "./with-deadline.js";

/** A checkpoint: what stands before it waits until somebody opens it. */
export interface Gate {
  /** Resolves when somebody has come to the gate; rejects when nobody does in time. */
  readonly reached: Promise<void>;
  /** Resolves when the gate is open. */
  pass(): Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let arrive = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    get reached() {
      return withDeadline(reached, "somebody at the gate");
    },
    pass() {
      arrive();
      return opened;
    },
    open: () => open(),
  };
}

/** Resolves when `signal` aborts, to its reason. */
export function untilAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}
