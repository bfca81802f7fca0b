import { migrate } from "@queue/core/migrations";
import { createDatabase, type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";
import { sql } from "kysely";
import { CommitProbe } from "./commit-probe.js";
import type { Account, Sample } from "./sample.js";
import { sampleServer } from "./server-sample.js";
import { openDatabase, openPool, products, queue, type SoakDatabase } from "./soak-queue.js";
import type { SoakOptions } from "./soak-options.js";
import { SoakProcess } from "./soak-process.js";

/** Durable, with the memory of a small server; all else, autovacuum above all, as PostgreSQL comes. */
const settings = { fsync: "on", full_page_writes: "on", shared_buffers: "1GB", max_wal_size: "4GB" };
/** Every so many samples, five minutes, live objects are counted, too: it takes some twenty collections' time. */
const thoroughEvery = 30;

/** A server, its producers and its workers. */
export class SoakWorld {
  readonly url: string;
  readonly db: SoakDatabase;
  readonly #server: EmbeddedServer;
  readonly #processes: readonly SoakProcess[];
  readonly #probe: CommitProbe;
  #since: string | undefined;
  #samples = 0;
  #ownTroubles: string[] = [];

  private constructor(parts: {
    server: EmbeddedServer;
    url: string;
    db: SoakDatabase;
    probe: CommitProbe;
    processes: readonly SoakProcess[];
  }) {
    this.#server = parts.server;
    this.url = parts.url;
    this.db = parts.db;
    this.#probe = parts.probe;
    this.#processes = parts.processes;
  }

  static async begin(options: SoakOptions): Promise<SoakWorld> {
    const server = await startEmbeddedServer({ settings });
    try {
      const { url } = await createDatabase(server, { label: "soak" });
      const db = openDatabase(openPool(url, 2, "the observer"));
      await migrate(db, queue);
      await sql`create table orders (id uuid primary key, product integer not null, jobs integer not null,
                                     at timestamptz not null default clock_timestamp())`.execute(db);
      await sql`create index on orders using brin (at) with (pages_per_range = 32, autosummarize = on)`.execute(db);
      await sql`create table stock (product integer primary key, sold integer not null default 0) with (fillfactor = 50)`.execute(db);
      await sql`insert into stock select generate_series(0, ${products - 1}::int)`.execute(db);
      const probe = await CommitProbe.begin(url);
      return new SoakWorld({ server, url, db, probe, processes: startProcesses(url, options) });
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  async sample(atMs: number): Promise<Sample> {
    const server = await sampleServer(this.db, this.#since);
    this.#since = server.until;
    const isThorough = this.#samples++ % thoroughEvery === 0;
    const samples = [];
    // One after the other: each stands still for a moment, and the others work on.
    for (const process of this.#processes) samples.push(await process.sample({ isThorough }));
    const processes = samples.filter((sample) => sample !== undefined);
    const own = this.#ownTroubles.splice(0);
    const complaints = this.#processes.flatMap((process) => process.takeComplaints());
    return {
      atMs,
      server,
      processes,
      commitLatency: this.#probe.take(),
      troubles: [...own, ...complaints, ...processes.flatMap(({ troubles }) => troubles)],
    };
  }

  /** What an operator does now and then: dead letters whose cause is mended go back to the queue. */
  async redriveDead(): Promise<void> {
    await queue
      .admin(this.db)
      .redrive({ kind: "redriven" })
      .catch((error: unknown) => this.#ownTroubles.push(`operator: ${String(error)}`));
  }

  /** Ends the producers, and counts: what the business says it has enqueued, and what the queue has. */
  async account(): Promise<Account> {
    await this.#end("producer");
    const { rows } = await sql<Account>`
      select (select coalesce(sum(jobs), 0)::float8 from orders) as enqueued, (select count(*)::float8 from queue.all_jobs) as found`.execute(
      this.db,
    );
    return rows[0] ?? { enqueued: 0, found: 0 };
  }

  async end(): Promise<void> {
    await this.#end("producer");
    await this.#end("worker");
    await this.#probe.end();
    await this.db.destroy();
    await this.#server.stop();
  }

  async #end(role: SoakProcess["role"]): Promise<void> {
    await Promise.all(this.#processes.filter((process) => process.role === role).map((process) => process.end()));
  }
}

function startProcesses(url: string, options: SoakOptions): readonly SoakProcess[] {
  const { workers, producers, concurrency, ratePerSecond, seed } = options;
  return [
    ...names("worker", workers).map(
      (name) => new SoakProcess({ role: "worker", name, env: { SOAK_URL: url, SOAK_CONCURRENCY: String(concurrency) } }),
    ),
    ...names("producer", producers).map(
      (name, index) =>
        new SoakProcess({
          role: "producer",
          name,
          env: { SOAK_URL: url, SOAK_RATE: String(ratePerSecond / producers), SOAK_SEED: String(seed * 1_000 + index) },
        }),
    ),
  ];
}

function names(role: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${role} ${index + 1}`);
}
