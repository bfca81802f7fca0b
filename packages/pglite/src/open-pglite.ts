import { existsSync } from "node:fs";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import { type Listener, queueError, refuseUnknownOptions } from "@queue/core/adapter";
import { type FolderLock, lockFolder } from "./folder-lock.js";
import { PgliteDialect } from "./pglite-dialect.js";
import { pgliteListener } from "./pglite-listener.js";

export interface OpenPgliteOptions {
  /** Where the database is kept; made when it is missing. One process at a time can have it open. @default in memory, gone at the end */
  readonly folder?: string | undefined;
}

/** A PostgreSQL inside this process, and what a queue needs of it. */
export interface OpenPglite<DB> extends AsyncDisposable {
  readonly db: Kysely<DB>;
  /** For `createWorker({ listener })`. */
  readonly listener: Listener;
  readonly pglite: PGlite;
  /** Waits for what runs, then ends the database. Safe to call twice. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a PostgreSQL inside this process: nothing to install, nothing to connect to. It has one connection, see
 * {@link PgliteDialect}; starting takes one to three seconds, most of it for a new database.
 *
 * @throws QueueError `INVALID_OPTION` when the folder cannot be made or written, `DATABASE_ERROR` when it is open already or
 * holds something that is no database of this version
 * @example
 * const { db, listener, close } = await openPglite<ShopDatabase & QueueDatabase>({ folder: "./data" });
 * await migrate(db, queue);
 */
export async function openPglite<DB>(options: OpenPgliteOptions = {}): Promise<OpenPglite<DB>> {
  refuseUnknownOptions(options, ["folder"], "openPglite");
  const pglite = options.folder === undefined ? await PGlite.create() : await openFolder(lockFolder(options.folder));
  const db = new Kysely<DB>({ dialect: new PgliteDialect({ pglite }) });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeOnce(db, pglite));
  return { db, listener: pgliteListener(pglite), pglite, close, [Symbol.asyncDispose]: close };
}

async function closeOnce(db: { destroy(): Promise<void> }, pglite: PGlite): Promise<void> {
  await db.destroy();
  // A Kysely that has run no query yet destroys nothing.
  if (!pglite.closed) await pglite.close();
}

/** Gives the folder free when it is closed, whoever closes it: `db.destroy()` does it, too. */
class FolderPglite extends PGlite {
  readonly #lock: FolderLock;

  constructor(lock: FolderLock) {
    super({ dataDir: lock.folder });
    this.#lock = lock;
  }

  override async close(): Promise<void> {
    await super.close();
    this.#lock.release();
  }
}

async function openFolder(lock: FolderLock): Promise<PGlite> {
  const isNew = !existsSync(join(lock.folder, "PG_VERSION"));
  try {
    const pglite = new FolderPglite(lock);
    await pglite.waitReady;
    return pglite;
  } catch (cause) {
    lock.release();
    throw queueError(
      "DATABASE_ERROR",
      isNew
        ? `No database could be made in ${JSON.stringify(lock.folder)}: ${messageOf(cause)}`
        : `The database in ${JSON.stringify(lock.folder)} could not be opened: ${messageOf(cause)}. It may be of another version of PGlite, or damaged.`,
      { sqlState: undefined },
      { cause },
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
