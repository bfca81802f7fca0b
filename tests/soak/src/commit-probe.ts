import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Counts } from "./histogram.js";

const everyMs = 50;

/**
 * Commits a row of its own now and then, without a queue: how long a commit takes on this disk at this moment, beside which the start
 * latencies are to be read. A job cannot start before its transaction and its claim are committed.
 */
export class CommitProbe {
  readonly #client: pg.Client;
  readonly #ended: Promise<void>;
  #isEnding = false;
  #latency = new Map<number, number>();

  private constructor(client: pg.Client) {
    this.#client = client;
    this.#ended = this.#run();
  }

  static async begin(url: string): Promise<CommitProbe> {
    const client = new pg.Client({ connectionString: url, application_name: "the probe" });
    await client.connect();
    await client.query("create table probe (at timestamptz not null default clock_timestamp())");
    return new CommitProbe(client);
  }

  /** Milliseconds of the commits since the last call. */
  take(): Counts {
    const taken = [...this.#latency];
    this.#latency = new Map();
    return taken;
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#ended;
    await this.#client.end();
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      const beganAt = performance.now();
      await this.#client.query("insert into probe default values");
      const tookMs = Math.round((performance.now() - beganAt) * 10) / 10;
      this.#latency.set(tookMs, (this.#latency.get(tookMs) ?? 0) + 1);
      await pause(everyMs);
    }
  }
}
