import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "@queue/core/migrations";
import { createDatabase, type EmbeddedServer, startEmbeddedServer } from "@queue/test-database";
import { sql } from "kysely";
import { type ChaosDatabase, openDatabase, queue } from "./chaos-queue.js";
import { FaultProxy } from "./fault-proxy.js";
import { type Death, SupervisedProcess } from "./processes.js";

export interface WorldOptions {
  readonly workers: number;
  readonly producers: number;
  /** Business transactions a second, of each producer. */
  readonly rate: number;
}

/** Everything that a run has: a server, a proxy before it, producers, workers, and what the faults did. */
export class ChaosWorld {
  readonly server: EmbeddedServer;
  readonly proxy: FaultProxy;
  /** To the server itself, past the proxy. */
  readonly db: ChaosDatabase;
  /** Where the handlers log. */
  readonly folder: string;
  readonly workers: SupervisedProcess[] = [];
  readonly deaths: Death[] = [];
  /** Processes that ended although nobody had asked them to. */
  readonly crashes: string[] = [];
  readonly #producers: SupervisedProcess[] = [];
  readonly #urls: { readonly direct: string; readonly proxied: string };

  private constructor(parts: {
    server: EmbeddedServer;
    proxy: FaultProxy;
    db: ChaosDatabase;
    folder: string;
    urls: { direct: string; proxied: string };
  }) {
    this.server = parts.server;
    this.proxy = parts.proxy;
    this.db = parts.db;
    this.folder = parts.folder;
    this.#urls = parts.urls;
  }

  static async begin({ workers, producers, rate }: WorldOptions): Promise<ChaosWorld> {
    const server = await startEmbeddedServer({ settings: { fsync: "on", full_page_writes: "on" } });
    const database = await createDatabase(server, { label: "chaos" });
    const { proxy, url: proxied } = await FaultProxy.before(database.url);
    const db = openDatabase(database.url, 4, "chaos oracle");
    await migrate(db, queue);
    await sql`create table orders (token text primary key)`.execute(db);
    await sql`create table ledger (job_id bigint not null, token text not null)`.execute(db);
    const folder = await mkdtemp(join(tmpdir(), "queue-chaos-"));
    const world = new ChaosWorld({ server, proxy, db, folder, urls: { direct: database.url, proxied } });
    for (let n = 0; n < workers; n++) {
      // Half of them past the proxy, so that a fault of the network is survived by the others and seen by these.
      world.#addWorker({
        CHAOS_URL: n % 2 === 0 ? proxied : database.url,
        ...(n === 0 ? { CHAOS_RELEASE: "new" } : {}),
        ...(n === 1 ? { CHAOS_POOL: "3" } : {}),
      });
    }
    for (let n = 0; n < producers; n++) {
      world.#producers.push(
        new SupervisedProcess(
          { script: "chaos-producer.js", env: { CHAOS_URL: n % 2 === 0 ? database.url : proxied, CHAOS_RATE: String(rate) } },
          (code) => world.crashes.push(`producer ended with ${code}`),
        ),
      );
    }
    return world;
  }

  /** A worker of its own for a while: of another release, or with another clock. */
  addWorker(env: Readonly<Record<string, string>>): SupervisedProcess {
    return this.#addWorker({ CHAOS_URL: this.#urls.direct, ...env });
  }

  async removeWorker(worker: SupervisedProcess): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    await worker.end();
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

  #addWorker(env: Readonly<Record<string, string>>): SupervisedProcess {
    const worker = new SupervisedProcess({ script: "chaos-worker.js", env: { CHAOS_FOLDER: this.folder, ...env } }, (code) =>
      this.crashes.push(`worker ended with ${code}`),
    );
    this.workers.push(worker);
    return worker;
  }
}
