import { mkdtemp, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@queue/core/migrations";
import { createDatabase, type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";
import { sql } from "kysely";
import { applications, type ChaosDatabase, jobsOf, openDatabase, type Order, queue, rowOf } from "./chaos-queue.js";
import { createEvidence } from "./evidence.js";
import { FaultProxy } from "./fault-proxy.js";
import { type ProcessEnd, SupervisedProcess } from "./processes.js";

export interface WorldOptions {
  /** Jobs that the producers ask for in a second, together. */
  readonly jobsPerSecond: number;
  readonly seed: number;
  /** How long a snapshot is held open. */
  readonly snapshotMs: number;
}

interface Parts {
  readonly server: EmbeddedServer;
  readonly proxy: FaultProxy;
  readonly db: ChaosDatabase;
  readonly folder: string;
  readonly urls: { readonly direct: string; readonly proxied: string };
  readonly options: WorldOptions;
}

/** So few that outsiders can take them all: the workers and producers want up to 150. */
const connections = 180;
const producers = 2;

/** Everything that a run has: a server, a proxy before it, producers, workers, and what became of them. */
export class ChaosWorld {
  readonly server: EmbeddedServer;
  readonly proxy: FaultProxy;
  /** To the server itself, past the proxy. */
  readonly db: ChaosDatabase;
  readonly url: string;
  /** Where the handlers log. */
  readonly folder: string;
  readonly snapshotMs: number;
  readonly workers: SupervisedProcess[] = [];
  readonly ends: ProcessEnd[] = [];
  /** What processes did that they should not: they ended although nobody had asked them to, or did not end. */
  readonly misbehaviour: string[] = [];
  readonly #producers: SupervisedProcess[] = [];

  private constructor({ server, proxy, db, folder, urls, options }: Parts) {
    this.server = server;
    this.proxy = proxy;
    this.db = db;
    this.folder = folder;
    this.url = urls.direct;
    this.snapshotMs = options.snapshotMs;
    // Two behind the proxy, so that a fault of the network is seen by these and survived by the others; one with a small pool.
    this.addWorker({ CHAOS_URL: urls.proxied, CHAOS_RELEASE: "new" });
    this.addWorker({ CHAOS_RELEASE: "new", CHAOS_SMALL: "1" });
    this.addWorker({ CHAOS_URL: urls.proxied, CHAOS_RELEASE: "old" });
    this.addWorker({ CHAOS_RELEASE: "new" });
    this.addWorker({ CHAOS_RELEASE: "old" });
    for (let n = 0; n < producers; n++) {
      const env = {
        CHAOS_URL: n === 0 ? urls.direct : urls.proxied,
        CHAOS_RATE: String(options.jobsPerSecond / producers),
        CHAOS_SEED: String(options.seed * 100 + n),
      };
      this.#producers.push(this.#start("chaos-producer.js", env));
    }
  }

  static async begin(options: WorldOptions): Promise<ChaosWorld> {
    const settings = { fsync: "on", full_page_writes: "on", max_connections: String(connections) };
    const server = await startEmbeddedServer({ settings });
    const database = await createDatabase(server, { label: "chaos" });
    const { proxy, url: proxied } = await FaultProxy.before(database.url);
    const db = openDatabase(database.url, 6, applications.oracle);
    await migrate(db, queue);
    await createTablesOfApplication(db);
    await createEvidence(db);
    const folder = await mkdtemp(join(tmpdir(), "queue-chaos-"));
    return new ChaosWorld({ server, proxy, db, folder, urls: { direct: database.url, proxied }, options });
  }

  addWorker(env: Readonly<Record<string, string>>): SupervisedProcess {
    const worker = this.#start("chaos-worker.js", { CHAOS_FOLDER: this.folder, CHAOS_URL: this.url, ...env });
    this.workers.push(worker);
    return worker;
  }

  /** Stops a worker for good; others stop when the run ends. */
  async removeWorker(worker: SupervisedProcess): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    await worker.end();
  }

  /** As a producer does. */
  async placeOrder(jobs: Order["jobs"]): Promise<void> {
    const order = { token: randomUUID(), jobs };
    await this.db.transaction().execute(async (trx) => {
      await trx.insertInto("orders").values(rowOf(order)).execute();
      await queue.enqueueMany(trx, jobsOf(order));
    });
  }

  async stopProducing(): Promise<void> {
    await Promise.all(this.#producers.map((producer) => producer.end()));
  }

  async stopWorking(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.end()));
  }

  async end(): Promise<void> {
    await this.stopProducing();
    await this.stopWorking();
    await this.db.destroy();
    await this.proxy.close();
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  #start(script: "chaos-worker.js" | "chaos-producer.js", env: Readonly<Record<string, string>>): SupervisedProcess {
    return new SupervisedProcess(
      { script, env },
      { onEnd: (end) => this.ends.push(end), onMisbehaviour: (what) => this.misbehaviour.push(what) },
    );
  }
}

/** The tables of the application in a run. */
export async function createTablesOfApplication(db: ChaosDatabase): Promise<void> {
  await sql`create table orders (
    token text primary key, kinds text[] not null, placed_at timestamptz not null default clock_timestamp())`.execute(db);
  // No constraint that would refuse a second entry: the oracle counts them.
  await sql`create table ledger (
    job_id bigint not null, token text not null, entered_at timestamptz not null default clock_timestamp())`.execute(db);
}
