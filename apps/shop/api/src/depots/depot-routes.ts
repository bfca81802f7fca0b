import { Hono } from "hono";
import type { Kysely } from "kysely";
import type { Database } from "@shop/database";

/** `POST /depots/:name/open` and `/close`: what an operator repairs before a redrive makes sense. */
export function depotRoutes(db: Kysely<Database>): Hono {
  const app = new Hono();
  const set = async (name: string, isOpen: boolean) => {
    const { numUpdatedRows } = await db.updateTable("depots").set({ is_open: isOpen }).where("name", "=", name).executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  };
  app.post("/:name/open", async (c) => ((await set(c.req.param("name"), true)) ? c.redirect("/?depot=opened", 303) : c.notFound()));
  app.post("/:name/close", async (c) => ((await set(c.req.param("name"), false)) ? c.redirect("/?depot=closed", 303) : c.notFound()));
  return app;
}
