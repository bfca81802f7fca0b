/** How long a key refuses a second job: for a time, until its job was claimed, or until its job has ended. */
export type Hold = "time" | "started" | "ended";

export interface Job {
  readonly id: number;
  readonly kind: string;
  readonly lane: string;
  readonly key: string | null;
  readonly hold: Hold | null;
  readonly status: "queued" | "running" | "dead" | "done" | "cancelled";
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Whether anything of it is left in the tables when it was done or cancelled. */
  readonly isKept: boolean;
  /** How often it was claimed: with the worker it is the fence. Never goes down. */
  readonly claims: number;
  readonly redrives: number;
  /** Who has it, or had it last. */
  readonly worker: string | null;
  /** The step since when it is due; Infinity: not in this test, unless somebody says so. */
  readonly dueAt: number;
  readonly lease: "live" | "over" | null;
  /** Entries of its history. */
  readonly failures: number;
}

export interface Key {
  readonly job: number;
  readonly hold: Hold;
  /** The time that it was held for is over. */
  readonly isOver: boolean;
}

export type Row = `job ${number}` | `key ${string}` | `lane ${string}`;

export interface View {
  /** The step of the test. */
  readonly now: number;
  /** The step in which the transaction began: its claims take what was due by then. */
  readonly begun: number;
  job(id: number): Job | undefined;
  /** In the order of their ids. */
  jobs(): readonly Job[];
  key(name: string): Key | undefined;
  keys(): readonly (readonly [name: string, key: Key])[];
  isPaused(lane: string): boolean;
  /** No other open transaction has locked it. */
  isFree(row: Row): boolean;
  /** Until the transaction ends. Shared locks stand beside each other, and in the way of every writer. */
  lock(row: Row, mode: "shared" | "exclusive"): void;
  /** These three lock the row as well. */
  put(job: Job): void;
  putKey(name: string, key: Key | undefined): void;
  setPaused(lane: string, isPaused: boolean): void;
  newId(): number;
}
