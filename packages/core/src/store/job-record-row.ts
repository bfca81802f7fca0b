import { sql } from "kysely";
import { toMicros } from "./sql-time.js";

/** A job as the database returns it, live or archived. */
export interface JobRecordRow {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  readonly status: string;
  readonly priority: number;
  readonly payload: string | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly redrives: number;
  readonly idempotency_key: string | null;
  readonly worker: string | null;
  readonly last_error: string | null;
  readonly errors: string;
  readonly created_at: string;
  readonly run_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** The columns of {@link JobRecordRow} from `alias`, a row of `all_jobs` or of `jobs`; `finishedAt` where it has no such column. */
export function jobRecordColumns(alias: string, finishedAt = `${alias}.finished_at`, status = `${alias}.status`) {
  const at = (column: string) => sql<Date>`${sql.ref(`${alias}.${column}`)}`;
  return [
    sql<string>`${at("id")}::text`.as("id"),
    sql<string>`${sql.raw(status)}::text`.as("status"),
    sql<string | null>`${at("payload")}::text`.as("payload"),
    sql<string>`${at("errors")}::text`.as("errors"),
    sql<string>`${at("kind")}`.as("kind"),
    sql<string>`${at("lane")}`.as("lane"),
    sql<number>`${at("priority")}`.as("priority"),
    sql<number>`${at("attempts")}`.as("attempts"),
    sql<number>`${at("max_attempts")}`.as("max_attempts"),
    sql<number>`${at("redrives")}`.as("redrives"),
    sql<string | null>`${at("idempotency_key")}`.as("idempotency_key"),
    sql<string | null>`${at("worker")}`.as("worker"),
    sql<string | null>`${at("last_error")}`.as("last_error"),
    toMicros(at("created_at")).as("created_at"),
    toMicros(at("run_at")).as("run_at"),
    toMicros(at("started_at")).as("started_at"),
    toMicros(sql<Date>`${sql.raw(finishedAt)}`).as("finished_at"),
  ] as const;
}
