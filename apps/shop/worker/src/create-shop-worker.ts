import type { Kysely } from "kysely";
import type { Listener } from "@queue/core";
import { createWorker, type Logger, type Worker, type WorkerEvent } from "@queue/worker";
import type { Database } from "@shop/database";
import { queue } from "@shop/jobs";
import { askReview } from "./handlers/ask-review.js";
import { notifyWarehouse } from "./handlers/notify-warehouse.js";
import { sendReceipt } from "./handlers/send-receipt.js";
import type { MailProvider } from "./providers/mail-provider.js";
import { SimulatedMailProvider } from "./providers/simulated-mail-provider.js";
import { SimulatedTextMessageProvider } from "./providers/simulated-text-message-provider.js";
import type { TextMessageProvider } from "./providers/text-message-provider.js";

export interface ShopWorkerOptions {
  readonly db: Kysely<Database>;
  /** Wakes the worker when a job commits. @default it polls */
  readonly listener?: Listener | undefined;
  /** @default a simulated one */
  readonly mail?: MailProvider | undefined;
  /** @default a simulated one */
  readonly textMessages?: TextMessageProvider | undefined;
  /** How many jobs run at once; the provider of mails gets at most half of them. @default 10 */
  readonly concurrency?: number | undefined;
  readonly logger?: Logger | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
}

/** The worker of the shop, with a handler for each kind of job. */
export function createShopWorker({
  db,
  listener,
  mail = new SimulatedMailProvider({ db }),
  textMessages = new SimulatedTextMessageProvider(db),
  concurrency = 10,
  logger,
  onEvent,
}: ShopWorkerOptions): Worker {
  return createWorker({
    queue,
    db,
    listener,
    handlers: {
      "order.send-receipt": sendReceipt(db, mail),
      "order.notify-warehouse": notifyWarehouse,
      "order.ask-review": askReview(db, textMessages),
    },
    concurrency,
    lanes: {
      mail: { concurrency: Math.ceil(concurrency / 2) },
      warehouse: { concurrency },
      reviews: { concurrency },
    },
    logger,
    onEvent,
  });
}
