import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { Listener } from "@queue/core";
import { pgListener } from "@queue/pg";
import { openPglite } from "@queue/pglite";
import type { Database } from "./shop-database.js";

export interface OpenShopDatabaseOptions {
  /** The connection string of a server. @default a PostgreSQL embedded in this process, gone when it is closed */
  readonly url?: string | undefined;
  /** The most connections to a server, the listener's own not counted. @default 20 */
  readonly connections?: number | undefined;
  /** What `pg_stat_activity` shows. @default "shop" */
  readonly application?: string | undefined;
  /** A connection of the pool broke while nobody used it; the pool makes another. */
  readonly onError?: ((error: Error) => void) | undefined;
}

export interface OpenShopDatabase {
  readonly db: Kysely<Database>;
  /** Wakes a worker when a job commits. */
  readonly listener: Listener;
  readonly isEmbedded: boolean;
  /** Call it after the worker has stopped. */
  readonly close: () => Promise<void>;
}

/** The shop's database: a server where `url` names one, else PostgreSQL in this process. */
export async function openShopDatabase(options: OpenShopDatabaseOptions = {}): Promise<OpenShopDatabase> {
  return options.url === undefined ? openEmbedded() : connect(options.url, options);
}

async function openEmbedded(): Promise<OpenShopDatabase> {
  const embedded = await openPglite<Database>();
  return { db: embedded.db, listener: embedded.listener, isEmbedded: true, close: () => embedded.close() };
}

function connect(url: string, { connections = 20, application = "shop", onError }: OpenShopDatabaseOptions): OpenShopDatabase {
  const pool = new pg.Pool({ connectionString: url, max: connections, application_name: application });
  // Without a listener the loss of an idle connection would end the process.
  pool.on("error", (error) => onError?.(error));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  const listener = pgListener({ connectionString: url });
  return { db, listener, isEmbedded: false, close: () => db.destroy() };
}
