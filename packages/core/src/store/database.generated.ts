/**
 * The rows of the queue's tables, generated from a migrated database by `npm run codegen`. Not edited by hand: change the
 * migrations and generate it again. `npm run codegen:check` fails when this file and the migrations differ.
 */

import type { ColumnType } from "kysely";

export type ArchiveStatus = "cancelled" | "done";

export type Generated<T> = T extends ColumnType<infer S, infer I, infer U>
  ? ColumnType<S, I | undefined, U>
  : ColumnType<T, T | undefined, T>;

export type Int8 = ColumnType<string, bigint | number | string, bigint | number | string>;

export type JobStatus = "dead" | "queued" | "running" | "waiting";

export type Json = JsonValue;

export type JsonArray = JsonValue[];

export type JsonObject = {
  [x: string]: JsonValue | undefined;
};

export type JsonPrimitive = boolean | number | string | null;

export type JsonValue = JsonArray | JsonObject | JsonPrimitive;

export type KeyRelease = "ended" | "started";

export type Timestamp = ColumnType<Date, Date | string, Date | string>;

export interface AllJobs {
  attempts: number;
  claims: number;
  created_at: Timestamp;
  errors: Json;
  finished_at: Timestamp | null;
  id: Int8;
  idempotency_key: string | null;
  kind: string;
  lane: string;
  last_error: string | null;
  locked_until: Timestamp | null;
  max_attempts: number;
  payload: Json | null;
  priority: number;
  redrives: number;
  run_at: Timestamp;
  started_at: Timestamp | null;
  status: ArchiveStatus | JobStatus;
  worker: string | null;
}

export interface Effects {
  done_at: Timestamp | null;
  /**
   * The job that the effect belongs to; 0 when it is shared by all jobs of the kind
   */
  job_id: Int8;
  key: string;
  kind: string;
  started_at: Generated<Timestamp>;
  started_by: Int8;
  started_claims: number;
}

export interface JobKeys {
  expires_at: Timestamp;
  job_id: Int8;
  key: string;
  kind: string;
  release_on: KeyRelease | null;
  /**
   * The job whose ended hold this one took over: compared and swapped, so that no two enqueues take the same key
   */
  replaces: Int8 | null;
}

export interface Jobs {
  attempts: Generated<number>;
  claims: Generated<number>;
  created_at: Generated<Timestamp>;
  errors: Generated<Json>;
  id: Generated<Int8>;
  idempotency_key: string | null;
  /**
   * The event that releases idempotency_key; null for a key that is held for a time. A redrive takes the key again by it
   */
  key_release: KeyRelease | null;
  kind: string;
  lane: Generated<string>;
  last_error: string | null;
  locked_until: Timestamp | null;
  max_attempts: Generated<number>;
  payload: Generated<Json>;
  priority: Generated<number>;
  redrives: Generated<number>;
  run_at: Generated<Timestamp>;
  started_at: Timestamp | null;
  status: Generated<JobStatus>;
  worker: string | null;
}

export interface JobsArchive {
  attempts: number;
  claims: number;
  created_at: Timestamp;
  errors: Json;
  finished_at: Timestamp;
  id: Int8;
  idempotency_key: string | null;
  keep_until: Timestamp;
  kind: string;
  lane: string;
  last_error: string | null;
  max_attempts: number;
  /**
   * SQL null when the payload was too large to be written a second time
   */
  payload: Json | null;
  priority: number;
  redrives: number;
  run_at: Timestamp;
  started_at: Timestamp | null;
  status: ArchiveStatus;
  worker: string | null;
}

export interface Lanes {
  lane: string;
  paused_at: Timestamp | null;
}

export interface Migrations {
  applied_at: Generated<Timestamp>;
  breaks_older_workers: boolean;
  name: string;
}

export interface Workers {
  expires_at: Timestamp;
  host: string;
  id: string;
  kinds: string[];
  lanes: string[] | null;
  pid: number;
  started_at: Timestamp;
}

export interface DB {
  all_jobs: AllJobs;
  effects: Effects;
  job_keys: JobKeys;
  jobs: Jobs;
  jobs_archive: JobsArchive;
  lanes: Lanes;
  migrations: Migrations;
  workers: Workers;
}
