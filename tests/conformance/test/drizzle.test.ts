import { PGlite } from "@electric-sql/pglite";
import { Pool } from "@neondatabase/serverless";
import type { Listener } from "@queue/core";
import { drizzleDatabase, type DrizzleDatabase, type DrizzleTransaction, fromDrizzle } from "@queue/drizzle";
import { neonListener } from "@queue/neon";
import { pgListener } from "@queue/pg";
import { pgliteListener } from "@queue/pglite";
import { postgresJsListener } from "@queue/postgres-js";
import { useTestDatabase } from "@queue/test-database";
import { type Adapter, describeConformance } from "@queue/testing/conformance";
import { drizzle as drizzleOnNeon } from "drizzle-orm/neon-serverless";
import { drizzle as drizzleOnPg } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPglite } from "drizzle-orm/pglite";
import { drizzle as drizzleOnPostgresJs } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { openWebSocketProxy } from "../../../packages/neon/test/websocket-proxy.js";

const database = useTestDatabase({ template: "empty" });

/** What a body throws that has done its part and wants it undone. */
const rollback = new Error("rolled back as wanted");

interface Transaction extends DrizzleTransaction {
  transaction(body: (tx: Transaction) => Promise<void>): Promise<void>;
}

interface Transactional extends DrizzleDatabase {
  transaction(body: (tx: Transaction) => Promise<void>): Promise<void>;
}

function adapter(db: Transactional, { listener, close }: { listener: Listener; close(): Promise<void> }): Adapter<Transaction> {
  return {
    db: drizzleDatabase(db),
    listener,
    inHandler: fromDrizzle,
    executorInTransaction: (fn, { commit }) =>
      db
        .transaction(async (tx) => {
          await fn(fromDrizzle(tx));
          if (!commit) throw rollback;
        })
        .catch((error: unknown) => {
          if (error !== rollback) throw error;
        }),
    nested: (tx, fn) => tx.transaction(fn),
    close,
  };
}

describeConformance("@queue/drizzle on pg", async () => {
  const listener = pgListener({ connectionString: database.url });
  return adapter(drizzleOnPg(database.newPool()), { listener, close: async () => {} });
});

describeConformance("@queue/drizzle on postgres-js", async () => {
  const sql = postgres(database.url, { onnotice: () => {} });
  return adapter(drizzleOnPostgresJs(sql), { listener: postgresJsListener(database.url), close: () => sql.end() });
});

describeConformance("@queue/drizzle on pglite", async () => {
  const pglite = await PGlite.create();
  return adapter(drizzleOnPglite(pglite), { listener: pgliteListener(pglite), close: () => pglite.close() });
});

describeConformance("@queue/drizzle on neon", async () => {
  const proxy = await openWebSocketProxy();
  const pool = new Pool({ connectionString: database.url });
  return adapter(drizzleOnNeon(pool), {
    listener: neonListener({ connectionString: database.url }),
    async close() {
      await pool.end();
      await proxy[Symbol.asyncDispose]();
    },
  });
});
