import { randomBytes } from "node:crypto";
import type { Executor } from "@queue/core";
import { sqlStateOf } from "@queue/core/adapter";
import { notificationChannel } from "@queue/core/internal";
import { migrate } from "@queue/core/migrations";
import { type Catalogue, readCatalogue } from "./catalogue.js";
import type { Check, DoctorContext } from "./check.js";
import { compareCatalogues } from "./compare-catalogues.js";

/** Ends a transaction that made what it needed to know. */
class RolledBack extends Error {}

/**
 * Tables, columns, indexes, triggers and functions that are not as the migrations make them. What they would make is not written
 * down anywhere, and reads differently on each release of PostgreSQL: so they make it, in a schema of another name, in a
 * transaction that is rolled back. It takes a tenth of a second and locks nothing of the queue.
 */
export const schemaDrift: Check = {
  name: "tables as migrated",
  needsTables: true,
  async run(context) {
    const suffix = `_${randomBytes(6).toString("hex")}`;
    if (Buffer.byteLength(context.schema) + suffix.length > longestName) return { skipped: "the name of the schema is too long" };
    let expected: Catalogue = new Map();
    let actual: Catalogue = new Map();
    try {
      await context.db.transaction(async (_trx, executor) => {
        actual = await readCatalogue(executor, context.schema);
        expected = await makeReference(executor, context, suffix);
        throw new RolledBack();
      });
    } catch (error) {
      if (!(error instanceof RolledBack)) return skip(error);
    }
    return compareCatalogues(actual, expected);
  },
};

/** insufficient_privilege, read_only_sql_transaction: then somebody else has to look. */
function skip(error: unknown) {
  const state = sqlStateOf(error);
  if (state === "42501") return { skipped: "this role may not create a schema to compare with: run doctor as the owner of the database" };
  if (state === "25006") return { skipped: "this server is read-only: run doctor on the primary" };
  throw error;
}

/** NAMEDATALEN - 1 */
const longestName = 63;

/**
 * The name of the reference is the schema's with something behind it: wherever and however it is quoted, what is left without that
 * is the name of the schema.
 */
async function makeReference(executor: Executor, { schema }: DoctorContext, suffix: string): Promise<Catalogue> {
  const reference = `${schema}${suffix}`;
  await migrate(executor, { schema: reference });
  const renamed = (text: string) => text.replaceAll(notificationChannel(reference), notificationChannel(schema)).replaceAll(suffix, "");
  return new Map([...(await readCatalogue(executor, reference))].map(([object, definition]) => [renamed(object), renamed(definition)]));
}
