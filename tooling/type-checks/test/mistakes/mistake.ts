/** What a newcomer gets wrong, and what the compiler must answer. */
export interface Mistake {
  readonly name: string;
  /** Goes behind `preamble`. The line that the error must be on ends with `// <- error`. */
  readonly code: string;
  /**
   * A line of the error, exactly: the one that says what is wrong. One that ends with `…` is the beginning of a line: what follows
   * it is the type of the whole queue.
   */
  readonly says: string;
  /** Where TypeScript 7 says it in another order. */
  readonly saysIn7?: string;
  /** What it says beside, on the same line: `says` must not be the only error. */
  readonly alsoSays?: string;
}

/** What each program begins with. */
export const preamble = `
import { createQueue, job, type InferPayload } from "@queue/core";
import { drizzleDatabase, fromDrizzle } from "@queue/drizzle";
import { fromKnex, knexDatabase } from "@queue/knex";
import { fromPg } from "@queue/pg";
import { fromPrisma } from "@queue/prisma";
import { createWorker, snooze, type Handler, type Handlers, type TransactionalHandler } from "@queue/worker";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Knex } from "knex";
import type { Kysely, Transaction } from "kysely";
import type pg from "pg";
import * as z from "zod";
interface PrismaClient {
  $connect(): Promise<void>;
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): Promise<T>;
  $transaction<R>(fn: (prisma: Omit<PrismaClient, "$connect">) => Promise<R>): Promise<R>;
}
interface Shop { orders: { id: string } }
declare const db: Kysely<Shop>;
declare const trx: Transaction<Shop>;
declare const pool: pg.Pool;
declare const drizzle: NodePgDatabase;
declare const prisma: PrismaClient;
declare const knex: Knex;
const receipt = z.object({ orderId: z.string(), email: z.email() });
const queue = createQueue({
  jobs: { "order.send-receipt": job({ payload: receipt, lane: "mail" }), "search.reindex": job<{ productId: string }>(), "night.cleanup": job() },
});
const invoices = createQueue({ jobs: { "invoice.print": job<{ invoiceId: string }>() } });
`;
