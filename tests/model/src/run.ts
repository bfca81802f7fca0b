import { checkInvariants } from "./invariants.js";
import { isWaiting, openSession, type Session, setLockTimeout } from "./session.js";
import type { Step } from "./step.js";
import { linesOf, readLines } from "./table.js";
import type { Attempt, Lock, Wait } from "./transactions.js";
import type { Job } from "./view.js";
import { World } from "./world.js";

export const sessionNames = ["S1", "S2", "S3"] as const;
/** The session that time passes in, and that looks at what is committed: it has no transaction. */
export const time = "time";

export type Control = "begin" | "savepoint" | "commit" | "rollback" | "rollback to savepoint";
export type Ending = Exclude<Control, "begin" | "savepoint">;

/** How long a command waits for a lock that it should not have to wait for, and that somebody holds until it has given up. */
const unexpectedWaitMs = 300;
/** How long one waits that has to: until the other transaction has ended, which is next. */
const expectedWaitMs = 20_000;

interface Waiting<T> {
  readonly ask: () => Attempt<T>;
  readonly ending: Ending;
  readonly waited: Lock[];
}

/** Runs commands against the database and the model, and compares what they answer and what is in the tables then. */
export class Run implements AsyncDisposable {
  readonly #sessions: ReadonlyMap<string, Session>;
  #world = new World();
  #trace: string[] = [];
  #before: readonly Job[] = [];

  private constructor(sessions: ReadonlyMap<string, Session>) {
    this.#sessions = sessions;
  }

  static async open(url: string): Promise<Run> {
    const scope = {};
    const sessions = new Map<string, Session>();
    for (const name of [...sessionNames, time]) sessions.set(name, await openSession(url, scope));
    return new Run(sessions);
  }

  get world(): World {
    return this.#world;
  }

  /** From empty tables, whatever was going on. */
  async begin(): Promise<void> {
    // A transaction that is waited for ends first, or at the same time.
    await Promise.all([...this.#sessions.values()].map((session) => session.query("rollback")));
    for (const session of this.#sessions.values()) await setLockTimeout(session, unexpectedWaitMs);
    for (const table of ["jobs", "jobs_archive", "job_keys", "lanes"]) await this.#session(time).query(`delete from queue.${table}`);
    this.#world = new World();
    this.#trace = [];
    this.#before = [];
  }

  async control(name: string, control: Control): Promise<void> {
    this.#note(`${name}: ${control}`);
    try {
      await this.#control(name, control);
      await this.#compareTables(name);
    } catch (error) {
      throw this.#withTrace(error);
    }
  }

  /** One step of `name`; when it waits for a transaction, that is ended by `ending`. */
  async step<T>(name: string, step: Step<T>, ending: Ending = "commit"): Promise<T> {
    const { transactions, names, held } = this.#world;
    transactions.now++;
    const session = this.#session(name);
    this.#note(`${name}: ${step.text}`);
    try {
      const ask = () => transactions.attempt(name, (view) => step.expect(view, undefined), { isKept: false });
      const waited: Lock[] = [];
      const seen = "waits" in ask() ? await this.#wait(name, step, { ask, ending, waited }) : await step.perform(session, names);
      this.#note(`    → ${JSON.stringify(seen) ?? "ok"}`);
      const expected = transactions.attempt(name, (view) => step.expect(view, seen), { isKept: true, waited });
      if (!("answer" in expected)) throw new Error("The model waits again.");
      expectSame("The answer", [JSON.stringify(seen)], [JSON.stringify(expected.answer)]);
      held.push(...(step.held?.(seen) ?? []));
      await this.#compareTables(name);
      return seen;
    } catch (error) {
      throw this.#withTrace(error);
    }
  }

  /** @throws Error when a job that was committed has not ended, or has ended more than once */
  async expectAllEnded(): Promise<void> {
    const jobs = this.#world.transactions.view(time).jobs();
    const [row] = await this.#session(time).query<{ live: number; ended: number; distinct: number }>(
      `select (select count(*)::int from queue.jobs where status <> 'dead') as live, count(*)::int as ended, count(distinct id)::int as distinct
         from (select id from queue.jobs_archive union all select id from queue.jobs where status = 'dead') e`,
    );
    const ended = jobs.filter((job) => job.status === "dead" || job.isKept).length;
    const isRight = row?.live === 0 && row.ended === ended && row.distinct === ended;
    if (!isRight) throw this.#withTrace(new Error(`${ended} jobs must have ended, each once, but: ${JSON.stringify(row)}`));
  }

  async #wait<T>(name: string, step: Step<T>, { ask, ending, waited }: Waiting<T>): Promise<T> {
    const session = this.#session(name);
    await setLockTimeout(session, expectedWaitMs);
    const performed = step.perform(session, this.#world.names);
    for (let asked = ask(); "waits" in asked; asked = ask()) {
      const { waits } = asked;
      waited.push(waits, ...waits.locked);
      if (!(await isWaiting(this.#session(time), session, performed))) {
        throw new Error(`It must wait for ${waits.session}, and did not: ${JSON.stringify(await performed)}`);
      }
      const isAnyEnd = step.canWait?.(waits, this.#world.transactions.view(name)) === "for any end";
      const control = this.#endingOf(waits, isAnyEnd || ending !== "commit" ? ending : "rollback");
      this.#note(`    waits for ${waits.session}: ${control}`);
      await this.#control(waits.session, control);
    }
    const seen = await performed;
    await setLockTimeout(session, unexpectedWaitMs);
    return seen;
  }

  /** A transaction that has no savepoint is rolled back whole. */
  #endingOf({ session }: Wait, ending: Ending): Control {
    return ending === "rollback to savepoint" && !this.#world.transactions.hasSavepoint(session) ? "rollback" : ending;
  }

  async #control(name: string, control: Control): Promise<void> {
    const { transactions } = this.#world;
    transactions.now++;
    const session = this.#session(name);
    switch (control) {
      case "begin":
        await session.query("begin");
        return transactions.begin(name);
      case "savepoint":
        await session.query("savepoint s");
        return transactions.savepoint(name);
      case "commit":
        await session.query("commit");
        return transactions.commit(name);
      case "rollback":
        await session.query("rollback");
        return transactions.rollback(name);
      case "rollback to savepoint":
        await session.query("rollback to savepoint s");
        await session.query("release savepoint s");
        return transactions.rollbackToSavepoint(name);
    }
  }

  /** What everybody sees, and what `name` sees in its transaction. */
  async #compareTables(name: string): Promise<void> {
    const { transactions, names } = this.#world;
    for (const reader of transactions.isOpen(name) ? [time, name] : [time]) {
      const lines = await readLines(this.#session(reader), names);
      const who = reader === time ? "everybody" : reader;
      expectSame(`What ${who} sees`, lines, linesOf(transactions.view(reader)));
    }
    const committed = transactions.view(time).jobs();
    checkInvariants(this.#before, committed);
    this.#before = committed;
  }

  #session(name: string): Session {
    const session = this.#sessions.get(name);
    if (session === undefined) throw new Error(`There is no session ${name}.`);
    return session;
  }

  #note(line: string): void {
    this.#trace.push(line);
  }

  #withTrace(error: unknown): Error {
    const isLockTimeout = (error as { code?: unknown }).code === "55P03";
    const problem = isLockTimeout ? "It waited for a lock, and must not." : String((error as Error).message);
    return new Error(`${problem}\n\nwhat happened:\n${this.#trace.map((line) => `  ${line}`).join("\n")}`, { cause: error });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session[Symbol.asyncDispose]()));
  }
}

function expectSame(what: string, seen: readonly string[], expected: readonly string[]): void {
  const surplus = seen.filter((line) => !expected.includes(line)).map((line) => `  is        ${line}`);
  const missing = expected.filter((line) => !seen.includes(line)).map((line) => `  should be ${line}`);
  if (surplus.length + missing.length + Math.abs(seen.length - expected.length) > 0) {
    throw new Error([`${what} is not what the model says:`, ...surplus, ...missing].join("\n"));
  }
}
