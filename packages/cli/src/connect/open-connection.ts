import { createQueue, type Admin, type JobDefinitions } from "@queue/core";
import type { AdapterDatabase } from "@queue/core/adapter";
import { pgDatabase } from "@queue/pg";
import pg from "pg";
import { loadConfig } from "../config/load-config.js";
import type { ConfiguredQueue } from "../config/queue-config.js";
import { UsageError } from "../output/usage-error.js";

export interface ConnectionOptions {
  readonly url?: string | undefined;
  readonly schema?: string | undefined;
  readonly config?: string | undefined;
}

/** A database with a queue, as a command works with it. */
export interface Connection {
  readonly url: string;
  readonly schema: string;
  readonly db: AdapterDatabase<pg.PoolClient>;
  readonly pool: pg.Pool;
  /** The application's queue, when the config has one. */
  readonly queue: ConfiguredQueue | undefined;
  readonly admin: Admin<JobDefinitions>;
  close(): Promise<void>;
}

/** A server that is not there is said soon. */
const connectTimeoutMs = 10_000;

/**
 * Where to work, and with which queue: flags before `DATABASE_URL` before the config. Nothing is connected yet.
 *
 * @throws UsageError when nothing names a database; QueueError `INVALID_OPTION` for a schema that PostgreSQL refuses
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const config = await loadConfig(options.config);
  const url = options.url ?? (process.env["DATABASE_URL"] || undefined) ?? config.url;
  if (url === undefined || url === "") {
    throw new UsageError("No database is named: give --url postgres://…, set DATABASE_URL, or export url in queue.config.ts.");
  }
  const schema = options.schema ?? config.schema ?? config.queue?.schema ?? "queue";
  const queue =
    config.queue === undefined || config.queue.schema === schema ? config.queue : createQueue({ schema, jobs: config.queue.jobs });
  const known = queue ?? createQueue({ schema, jobs: {} });
  const pool = createPool(url);
  const db = pgDatabase(pool);
  return { url, schema, db, pool, queue, admin: known.admin(db), close: () => pool.end() };
}

/** @throws UsageError when `url` is no connection string */
export function createPool(url: string): pg.Pool {
  try {
    const { protocol } = new URL(url);
    if (protocol !== "postgres:" && protocol !== "postgresql:") throw new TypeError(protocol);
  } catch {
    // Without the text: a password may be in it.
    throw new UsageError("The connection string is none: it has to look like postgres://user:password@host:5432/database.");
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: 3,
    fallback_application_name: "queue cli",
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // A lost connection that nobody uses; who needs one next is told.
  pool.on("error", () => {});
  return pool;
}
