import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Kysely } from "kysely";
import type { Database } from "@shop/database";
import { type Notice, noticeOf } from "./notice.js";
import { readCatalogue } from "./read-catalogue.js";
import { createNumbersReader } from "./read-numbers.js";
import { readOrders } from "./read-orders.js";
import { type Live, renderLive } from "./render-live.js";
import { renderPage } from "./render-page.js";

const shownOrders = 25;

/** The page, answered to a request. */
export interface ShopPage {
  /** With what the address asks to be said, or with `notice`. */
  show(c: Context, notice?: Notice, status?: ContentfulStatusCode): Promise<Response>;
  /** Only the part that changes by itself. */
  showLive(c: Context): Promise<Response>;
}

export function createPage(db: Kysely<Database>): ShopPage {
  const readNumbers = createNumbersReader(db);
  const readLive = async (): Promise<Live> => ({ numbers: await readNumbers(), orders: await readOrders(db, shownOrders) });
  return {
    async show(c, notice = noticeOf(c.req.query()), status = 200) {
      c.header("cache-control", "no-store");
      return c.html(renderPage({ live: await readLive(), catalogue: await readCatalogue(db), notice }), status);
    },
    async showLive(c) {
      c.header("cache-control", "no-store");
      return c.html(renderLive(await readLive()));
    },
  };
}
