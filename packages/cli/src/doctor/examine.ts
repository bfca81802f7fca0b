import type { QueryResultRow } from "pg";
import { QueueError, sqlStateOf } from "@queue/core/adapter";
import type { Connection } from "../connect/open-connection.js";
import type { Check, DoctorContext, Finding, Thresholds } from "./check.js";
import { clocks } from "./clocks.js";
import { deadRows } from "./dead-rows.js";
import { foreignKeys } from "./foreign-keys.js";
import { heldSnapshot } from "./held-snapshot.js";
import { listening } from "./listening.js";
import { partitions } from "./partitions.js";
import { rights } from "./rights.js";
import { schemaDrift } from "./schema-drift.js";
import { schemaVersion } from "./schema-version.js";
import { serverClock } from "./server-clock.js";
import { unservedKinds } from "./unserved-kinds.js";

const checks: readonly Check[] = [
  rights,
  schemaVersion,
  schemaDrift,
  foreignKeys,
  listening,
  heldSnapshot,
  deadRows,
  unservedKinds,
  partitions,
  clocks,
  serverClock,
];

/** What one check came to. */
export interface Examination {
  readonly check: string;
  readonly status: "fine" | "found" | "skipped";
  readonly findings: readonly Finding[];
  /** Why it could not look. */
  readonly reason?: string | undefined;
}

export interface ExamineOptions {
  readonly thresholds: Thresholds;
  readonly role: string | null;
}

/** Asks one check after the other, so that none sees the transaction of another. */
export async function* examine(connection: Connection, options: ExamineOptions): AsyncGenerator<Examination> {
  const context: DoctorContext = {
    ...connection,
    ...options,
    quotedSchema: `"${connection.schema.replaceAll('"', '""')}"`,
    read: async <TRow>(sql: string, parameters: readonly unknown[] = []) =>
      (await connection.pool.query<TRow & QueryResultRow>(sql, [...parameters])).rows,
  };
  let hasTables = true;
  for (const check of checks) {
    if (check.needsTables && !hasTables) {
      yield { check: check.name, status: "skipped", findings: [], reason: "the tables are not there, or may not be read" };
      continue;
    }
    const result = await runCheck(check, context);
    if (check === schemaVersion && "skipped" in result) hasTables = false;
    if (check === schemaVersion && !("skipped" in result)) hasTables = await tablesAreThere(context);
    yield "skipped" in result
      ? { check: check.name, status: "skipped", findings: [], reason: result.skipped }
      : { check: check.name, status: result.length === 0 ? "fine" : "found", findings: result };
  }
}

/** A check that may not look (insufficient_privilege), or does not know these tables, says so, and the others go on. */
async function runCheck(check: Check, context: DoctorContext) {
  try {
    return await check.run(context);
  } catch (error) {
    const isOfAnotherVersion = QueueError.is(error) && error.code.startsWith("SCHEMA_");
    if (!isOfAnotherVersion && sqlStateOf(error) !== "42501") throw error;
    return { skipped: error instanceof Error ? error.message : String(error) };
  }
}

async function tablesAreThere({ read, quotedSchema }: DoctorContext): Promise<boolean> {
  const [row] = await read<{ found: boolean }>("select pg_catalog.to_regclass($1::text) is not null as found", [`${quotedSchema}.jobs`]);
  return row?.found === true;
}
