import type { ClaimedJob } from "./inputs.js";
import type { JobNames } from "./job-names.js";
import type { Session } from "./session.js";
import type { Wait } from "./transactions.js";
import type { View } from "./view.js";

/** What a claim gave a worker; it may be stale by now, or never have been committed. */
export interface HeldJob extends ClaimedJob {
  readonly worker: string;
  readonly kind: string;
}

/** One command, both ways: what the model says of it, and how it is given to the database. Answers name jobs as the model does. */
export interface Step<T = unknown> {
  /** For the trace. */
  readonly text: string;
  /** `seen` is the database's answer, where the model leaves something open; undefined while it is only asked who waits. */
  expect(view: View, seen: T | undefined): T;
  perform(session: Session, names: JobNames): Promise<T>;
  /**
   * How the transaction that it waits for may end: by a commit too where the answer after it is that of a command that is sent
   * only then. Absent: where it would wait it is not done.
   */
  canWait?(wait: Wait, view: View): "for any end" | "for a rollback";
  /** What the answer gave a worker. */
  held?(answer: T): readonly HeldJob[];
}
