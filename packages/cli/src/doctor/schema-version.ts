import { QueueError } from "@queue/core";
import { migrationSql } from "@queue/core/migrations";
import type { Check, DoctorContext, Finding } from "./check.js";

/** Missing tables, tables of an older version, and of a newer one. */
export const schemaVersion: Check = {
  name: "schema version",
  needsTables: false,
  async run(context) {
    try {
      await context.admin.jobs({ limit: 1 });
    } catch (error) {
      const finding = explain(error);
      if (finding === undefined) throw error;
      return [finding];
    }
    return findNewer(context);
  },
};

/** The codes that say that package and tables do not fit. */
function explain(error: unknown): Finding | undefined {
  if (QueueError.is(error, "SCHEMA_MISSING")) {
    return {
      message: `The tables of the queue are not in schema ${JSON.stringify(error.schema)} of this database.`,
      advice: "Run `queue migrate`; or the connection leads to another database, or --schema names another schema.",
    };
  }
  if (QueueError.is(error, "SCHEMA_TOO_OLD")) {
    return { message: `The tables are at ${error.found}; this version needs ${error.expected}.`, advice: "Run `queue migrate`." };
  }
  if (QueueError.is(error, "SCHEMA_TOO_NEW")) {
    return {
      message: `The tables are at ${error.found}, which breaks this version; it knows ${error.expected}.`,
      advice: "Deploy the newer package; going back needs a backup.",
    };
  }
  return undefined;
}

/** Newer tables that work with this version, too: no reason to stop, but worth knowing. */
async function findNewer({ read, schema, quotedSchema }: DoctorContext): Promise<readonly Finding[]> {
  const script = migrationSql({ schema });
  const rows = await read<{ name: string }>(`select name from ${quotedSchema}.migrations order by name`);
  // Functions for other languages come in editions of their own, which nothing here depends on.
  const unknown = rows.map(({ name }) => name).filter((name) => !name.startsWith("functions-") && !script.includes(`values ('${name}',`));
  if (unknown.length === 0) return [];
  return [
    {
      message: `The tables are newer than this version, which does not know ${unknown.join(", ")}.`,
      advice: "They work together; update @queue/cli and the packages of the workers when you can.",
    },
  ];
}
