import type { Job, Key, Row, View } from "./view.js";

type Mode = "shared" | "exclusive";

/** What a transaction, or the part of it since a savepoint, has written and locked. Nothing is undefined, which is removed. */
interface Frame {
  readonly jobs: Map<number, Job>;
  readonly keys: Map<string, Key | undefined>;
  readonly paused: Map<string, boolean>;
  readonly locks: Map<Row, Mode>;
}

interface Transaction {
  readonly begun: number;
  readonly frames: Frame[];
}

export interface Lock {
  readonly row: Row;
  readonly mode: Mode;
}

/** What a command waits for. */
export interface Wait extends Lock {
  readonly session: string;
  /** What it had locked by then, and keeps, whatever it finds when its turn comes. */
  readonly locked: readonly Lock[];
}

/** The answer of a command, or what it waits for. */
export type Attempt<T> = { readonly answer: T } | { readonly waits: Wait };

export interface AttemptOptions {
  /** False: only to see whether it would wait. */
  readonly isKept: boolean;
  /** What it has waited for before, or had locked when it began to wait: it has locked that, whatever it does then. */
  readonly waited?: readonly Lock[];
}

const emptyFrame = (): Frame => ({ jobs: new Map(), keys: new Map(), paused: new Map(), locks: new Map() });

/**
 * READ COMMITTED in a few lines: who sees what, who has locked what, and who waits for whom. A command sees what is committed
 * and what its own transaction wrote. One that finds a row locked has done nothing, and is to be attempted again when the
 * other transaction has ended: this is what the database's own look at the new version of a row must amount to.
 */
export class Transactions {
  readonly #committed = emptyFrame();
  readonly #open = new Map<string, Transaction>();
  #lastId = 0;
  /** Counts the steps of the test, and is its clock. */
  now = 0;

  isOpen(session: string): boolean {
    return this.#open.has(session);
  }

  hasSavepoint(session: string): boolean {
    return (this.#open.get(session)?.frames.length ?? 0) > 1;
  }

  get open(): readonly string[] {
    return [...this.#open.keys()];
  }

  begin(session: string): void {
    this.#open.set(session, { begun: this.now, frames: [emptyFrame()] });
  }

  savepoint(session: string): void {
    this.#open.get(session)?.frames.push(emptyFrame());
  }

  rollbackToSavepoint(session: string): void {
    this.#open.get(session)?.frames.pop();
  }

  rollback(session: string): void {
    this.#open.delete(session);
  }

  commit(session: string): void {
    for (const frame of this.#open.get(session)?.frames ?? []) merge(frame, this.#committed);
    this.#committed.locks.clear();
    this.#open.delete(session);
  }

  /** What `session` sees: the tables for somebody who has no transaction, and may not write. */
  view(session: string): View {
    return this.#view(session, this.#open.get(session) ?? { begun: this.now, frames: [] });
  }

  /** Runs `command` in the transaction of `session`, or in one of its own, unless it has to wait. */
  attempt<T>(session: string, command: (view: View) => T, { isKept, waited = [] }: AttemptOptions): Attempt<T> {
    const transaction = this.#open.get(session);
    const own = emptyFrame();
    const lastId = this.#lastId;
    try {
      const view = this.#view(session, { begun: transaction?.begun ?? this.now, frames: [...(transaction?.frames ?? []), own] });
      const answer = command(view);
      for (const { row, mode } of waited) if (view.exists(row)) view.lock(row, mode);
      if (isKept) merge(own, transaction?.frames.at(-1) ?? this.#committed);
      else this.#lastId = lastId;
      this.#committed.locks.clear();
      return { answer };
    } catch (error) {
      if (!(error instanceof MustWait)) throw error;
      this.#lastId = lastId;
      return { waits: error.wait };
    }
  }

  #holder(session: string, row: Row, mode: Mode): string | undefined {
    const isInTheWay = ({ locks }: Frame) => locks.get(row) === "exclusive" || (locks.has(row) && mode === "exclusive");
    return [...this.#open].find(([other, { frames }]) => other !== session && frames.some(isInTheWay))?.[0];
  }

  #view(session: string, { begun, frames }: Transaction): View & { exists(row: Row): boolean } {
    const layers = [this.#committed, ...frames];
    const own = frames.at(-1) ?? emptyFrame();
    const jobs = new Map(layers.flatMap((layer) => [...layer.jobs]));
    const keys = new Map(layers.flatMap((layer) => [...layer.keys]));
    const paused = new Map(layers.flatMap((layer) => [...layer.paused]));
    const lock = (row: Row, mode: Mode) => {
      const holder = this.#holder(session, row, mode);
      if (holder !== undefined) throw new MustWait({ session: holder, row, mode, locked: locksOf(own) });
      if (own.locks.get(row) !== "exclusive") own.locks.set(row, mode);
    };
    return {
      now: this.now,
      begun,
      job: (id) => jobs.get(id),
      jobs: () => [...jobs.values()].toSorted((a, b) => a.id - b.id),
      key: (name) => keys.get(name),
      keys: () => [...keys].flatMap(([name, key]) => (key === undefined ? [] : [[name, key] as const])),
      isPaused: (lane) => paused.get(lane) ?? false,
      exists: (row) => {
        const [table, ...name] = row.split(" ");
        if (table === "key") return keys.get(name.join(" ")) !== undefined;
        return table === "job" ? jobs.has(Number(name)) : paused.get(name.join(" ")) === true;
      },
      isFree: (row) => this.#holder(session, row, "exclusive") === undefined,
      lock,
      put: (job) => {
        lock(`job ${job.id}`, "exclusive");
        jobs.set(job.id, job);
        own.jobs.set(job.id, job);
      },
      putKey: (name, key) => {
        lock(`key ${name}`, "exclusive");
        keys.set(name, key);
        own.keys.set(name, key);
      },
      setPaused: (lane, isPaused) => {
        lock(`lane ${lane}`, "exclusive");
        paused.set(lane, isPaused);
        own.paused.set(lane, isPaused);
      },
      newId: () => ++this.#lastId,
    };
  }
}

class MustWait extends Error {
  readonly wait: Wait;
  constructor(wait: Wait) {
    super(`waits for ${wait.session}`);
    this.wait = wait;
  }
}

const locksOf = ({ locks }: Frame): readonly Lock[] => [...locks].map(([row, mode]) => ({ row, mode }));

function merge(from: Frame, into: Frame): void {
  for (const [id, job] of from.jobs) into.jobs.set(id, job);
  for (const [name, key] of from.keys) into.keys.set(name, key);
  for (const [lane, isPaused] of from.paused) into.paused.set(lane, isPaused);
  for (const [row, mode] of from.locks) if (into.locks.get(row) !== "exclusive") into.locks.set(row, mode);
}
