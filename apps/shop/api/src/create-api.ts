import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { Kysely } from "kysely";
import type { Duration } from "@queue/core";
import type { Database } from "@shop/database";
import type { ShopQueue } from "@shop/jobs";
import { depotRoutes } from "./depots/depot-routes.js";
import { orderRoutes } from "./orders/order-routes.js";
import { createPage } from "./page/create-page.js";
import { publicFiles } from "./public-files.js";
import { pageHeaders } from "./security/page-headers.js";
import { refuseForeignRequests } from "./security/refuse-foreign-requests.js";

const largestBody = 64 * 1024;

export interface ApiOptions {
  readonly db: Kysely<Database>;
  readonly queue: ShopQueue;
  /** How long after an order its customer is asked for a review. @default "7d" */
  readonly reviewDelay?: Duration | undefined;
  /** Draws the orders of the button. @default Math.random */
  readonly random?: (() => number) | undefined;
  /** What a request failed with, when it was not the request's fault. @default console.error */
  readonly onError?: ((error: Error) => void) | undefined;
}

/** The shop: `POST /orders`, a page that shows orders and their jobs, and `GET /health`. It opens no connection of its own. */
export function createApi({ db, queue, reviewDelay = "7d", random = Math.random, onError = console.error }: ApiOptions): Hono {
  const app = new Hono();
  const admin = queue.admin(db);
  const page = createPage(db);

  app.use(pageHeaders, refuseForeignRequests);
  app.use(bodyLimit({ maxSize: largestBody, onError: (c) => c.text(`A request has at most ${largestBody} bytes.`, 413) }));

  app.get("/", async (c) => page.show(c));
  app.get("/live", async (c) => page.showLive(c));
  app.route("/", publicFiles());
  app.route("/orders", orderRoutes({ db, queue, reviewDelay, random, page }));
  app.route("/depots", depotRoutes(db));
  app.post("/dead/redrive", async (c) => {
    const { count } = await admin.redrive({ all: true });
    return c.redirect(`/?redriven=${count}`, 303);
  });
  app.get("/health", async (c) => c.json(await admin.health()));

  app.onError((error, c) => {
    onError(error);
    return c.text("Something failed here, not in your request. Try again.", 500);
  });
  return app;
}
