import type { Hono } from "hono";
import { Kysely, PostgresDialect } from "kysely";
import { beforeAll } from "vitest";
import { useTestDatabase } from "@queue/test-database";
import { createShopSchema, type Database } from "@shop/database";
import { queue } from "@shop/jobs";
import { createApi } from "../src/create-api.js";

export interface TestShop {
  readonly db: Kysely<Database>;
  readonly api: Hono;
  /** `POST path`, as a client that is no browser. */
  post(path: string, body: unknown): Promise<Response>;
  /** The number of orders and of jobs of any status. */
  count(): Promise<{ orders: number; jobs: number }>;
}

/** A shop on a database of the test file's own; nobody works its jobs. */
export function useShop(): TestShop {
  const database = useTestDatabase({ template: "empty" });
  let db: Kysely<Database>;
  let api: Hono;
  beforeAll(async () => {
    db = new Kysely<Database>({ dialect: new PostgresDialect({ pool: database.pool }) });
    await createShopSchema(db);
    api = createApi({ db, queue });
  });
  return {
    get db() {
      return db;
    },
    get api() {
      return api;
    },
    post: async (path, body) =>
      api.request(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    async count() {
      const orders = await db.selectFrom("orders").select("id").execute();
      const jobs = await db.selectFrom("queue.all_jobs").select("id").execute();
      return { orders: orders.length, jobs: jobs.length };
    },
  };
}
