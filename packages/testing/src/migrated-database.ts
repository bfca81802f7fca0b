import { PGlite } from "@electric-sql/pglite";
import { migrate } from "@queue/core/migrations";
import { PgliteDialect } from "@queue/pglite";
import { Kysely } from "kysely";

/** A database in this process, with the tables of a queue. */
export interface MigratedDatabase<DB> {
  readonly db: Kysely<DB>;
  /** Safe to call twice. */
  readonly close: () => Promise<void>;
}

/**
 * The data directory of a migrated database, by schema: a new one takes seconds, most of it initdb, a copy a tenth. It is some
 * 40 MB of memory, once in each process that makes a test queue, and nothing but a cache: what is in it never changes.
 */
const snapshots = new Map<string, Promise<Blob>>();

/** A copy of a migrated database: what one test writes, no other sees. */
export async function openMigratedDatabase<DB>(schema: string): Promise<MigratedDatabase<DB>> {
  const snapshot = snapshots.get(schema) ?? takeSnapshot(schema);
  snapshots.set(schema, snapshot);
  // What failed is tried again by the next test.
  snapshot.catch(() => snapshots.delete(schema));
  const pglite = await PGlite.create({ loadDataDir: await snapshot });
  const db = new Kysely<DB>({ dialect: new PgliteDialect({ pglite }) });
  let closed: Promise<void> | undefined;
  return { db, close: () => (closed ??= closeOnce(db, pglite)) };
}

async function takeSnapshot(schema: string): Promise<Blob> {
  const pglite = await PGlite.create();
  try {
    await migrate(new Kysely({ dialect: new PgliteDialect({ pglite }) }), { schema });
    return await pglite.dumpDataDir("none");
  } finally {
    await pglite.close();
  }
}

async function closeOnce(db: { destroy(): Promise<void> }, pglite: PGlite): Promise<void> {
  await db.destroy();
  // A Kysely that has run no query yet destroys nothing.
  if (!pglite.closed) await pglite.close();
}
