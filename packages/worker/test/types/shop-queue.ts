import { createQueue, job } from "@queue/core";
import type { Kysely, Transaction } from "kysely";
import * as v from "valibot";
import * as z from "zod";

/** The application that the type tests are written for. */
export interface ShopDatabase {
  orders: { id: string; email: string; total: number };
  products: { id: string; indexed_at: Date | null };
}

export declare const db: Kysely<ShopDatabase>;
export declare const trx: Transaction<ShopDatabase>;

export const queue = createQueue({
  jobs: {
    "order.send-receipt": job({ payload: z.object({ orderId: z.string(), email: z.email() }), lane: "mail", timeout: "30s" }),
    "search.reindex": job<{ productId: string }>(),
    "search.rebuild": job<{ index: string }>({ lane: "search", timeout: "1h" }),
    "order.remind": job({
      payload: z.object({
        at: z.iso.datetime().transform((text) => new Date(text)),
        count: z.number().default(1),
        since: z.coerce.date().optional(),
      }),
    }),
    "order.export": job({ payload: v.object({ rows: v.pipe(v.string(), v.toNumber()), format: v.optional(v.string(), "csv") }) }),
    "night.cleanup": job(),
  },
});
