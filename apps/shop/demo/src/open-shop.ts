import type { Kysely } from "kysely";
import type { Logger, WorkerEvent } from "@queue/worker";
import { createApi, serveApi } from "@shop/api";
import { type Database, type OpenShopDatabase, seededRandom } from "@shop/database";
import { queue } from "@shop/jobs";
import { createShopWorker } from "@shop/worker";

/** Short, so that somebody who watches sees a delayed job become due. */
const reviewDelayMs = 4_000;
/** What the worker's own log would say, the demo says in its words. */
const silentLogger: Logger = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });

export interface OpenShopOptions {
  readonly port: number;
  readonly onEvent: (event: WorkerEvent) => void;
  readonly onError: (error: Error) => void;
}

/** The api and the worker, in one process. */
export interface Shop {
  readonly db: Kysely<Database>;
  /** Of the page. */
  readonly url: string;
  /** Takes no more orders and lets running jobs end. */
  close(): Promise<void>;
}

export async function openShop({ db, listener }: OpenShopDatabase, { port, onEvent, onError }: OpenShopOptions): Promise<Shop> {
  const served = await serveApi(createApi({ db, queue, reviewDelay: reviewDelayMs, random: seededRandom("button"), onError }), { port });
  const worker = createShopWorker({ db, listener, logger: silentLogger, onEvent });
  await worker.start();
  return {
    db,
    url: served.url,
    async close() {
      await served.close();
      await worker.stop({ grace: "10s" });
    },
  };
}
