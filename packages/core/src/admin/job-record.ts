import type { JsonValue } from "../job/json-value.js";
import type { JobRecordRow } from "../store/job-record-row.js";
import { toDate } from "../store/sql-time.js";

/** One failed attempt. */
export interface JobFailure {
  /** Which attempt failed, from 1. */
  readonly attempt: number;
  readonly at: Date;
  readonly worker: string | null;
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
}

/** A job as an operator sees it, live or archived. */
export interface JobRecord {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  readonly status: "queued" | "waiting" | "running" | "dead" | "done" | "cancelled";
  readonly priority: number;
  /** Null also when the archive did not take a payload of more than 2 kB: see `isPayloadKept`. */
  readonly payload: JsonValue;
  readonly isPayloadKept: boolean;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** How often it came back from the dead letters. */
  readonly redrives: number;
  readonly key: string | null;
  /** The worker that has it, or had it last. */
  readonly worker: string | null;
  /** The message of the last failure. */
  readonly lastError: string | null;
  /** The last twenty failures, oldest first. */
  readonly errors: readonly JobFailure[];
  readonly createdAt: Date;
  readonly runAt: Date;
  /** The begin of the last attempt. */
  readonly startedAt: Date | null;
  /** When it was done, cancelled, or dead. */
  readonly finishedAt: Date | null;
}

interface StoredFailure {
  readonly attempt: number;
  readonly at: string;
  readonly worker: string | null;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
}

export function toJobRecord(row: JobRecordRow): JobRecord {
  return {
    id: row.id,
    kind: row.kind,
    lane: row.lane,
    status: row.status as JobRecord["status"],
    priority: Number(row.priority),
    payload: row.payload === null ? null : (JSON.parse(row.payload) as JsonValue),
    isPayloadKept: row.payload !== null,
    attempts: Number(row.attempts),
    maxAttempts: Number(row.max_attempts),
    redrives: Number(row.redrives),
    key: row.idempotency_key,
    worker: row.worker,
    lastError: row.last_error,
    errors: (JSON.parse(row.errors) as StoredFailure[]).map(({ at, stack, ...failure }) => ({
      ...failure,
      at: new Date(at),
      stack: stack ?? null,
    })),
    createdAt: toDate(row.created_at),
    runAt: toDate(row.run_at),
    startedAt: row.started_at === null ? null : toDate(row.started_at),
    finishedAt: row.finished_at === null ? null : toDate(row.finished_at),
  };
}
