import type { WorkerStatements } from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { soon } from "../time/soon.js";

export interface OthersBellOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "ringWorkers">;
  readonly onError: (error: unknown) => void;
}

/** A job that was put back, as a claim has read it. */
export interface PutBack {
  readonly lane: string;
  readonly priority: number;
  /** Microseconds since 1970. */
  readonly run_at: string;
}

/** As the trigger does: what does not fit becomes `*`, "look everywhere". */
const mostLines = 16;
const longestLane = 180;

/** Rings for the jobs that this worker puts back so that others may have them: the trigger rings for new ones only. */
export class OthersBell {
  readonly #options: OthersBellOptions;
  /** The first second of each line. */
  readonly #lines = new Map<string, { readonly line: PutBack; readonly second: number }>();

  constructor(options: OthersBellOptions) {
    this.#options = options;
  }

  /** Rings when this turn of the event loop is over, in which the rest of its batch comes, too. */
  add(line: PutBack): void {
    if (this.#lines.size === 0) soon(() => void this.#ring());
    const key = `${line.priority} ${line.lane}`;
    const second = Math.floor(Number(line.run_at) / 1_000_000);
    this.#lines.set(key, { line, second: Math.min(second, this.#lines.get(key)?.second ?? second) });
  }

  /** Whoever hears it looks everywhere, and far below what it has claimed. */
  async ringForAll(): Promise<void> {
    await this.#send("*");
  }

  async #ring(): Promise<void> {
    const lines = [...this.#lines.values()];
    this.#lines.clear();
    const isTooMuch = lines.length > mostLines || lines.some(({ line }) => Buffer.byteLength(line.lane) > longestLane);
    const messages = isTooMuch ? ["*"] : lines.map(({ line, second }) => `${line.priority}@${second} ${line.lane}`);
    try {
      for (const message of messages) await this.#send(message);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #send(message: string): Promise<void> {
    const { database, statements } = this.#options;
    await database.run(statements.ringWorkers, { message });
  }
}
