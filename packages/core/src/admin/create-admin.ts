import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";
import type { JobDefinitions } from "../job/job-definition.js";
import { checkInteger, checkLane, checkName, refuseUnknownOptions } from "../job/job-options.js";
import type { Executor } from "../ports/executor.js";
import { checkInstant } from "../queue/enqueue-options.js";
import type { Kind } from "../queue/prepare-job.js";
import type { SchemaCheck } from "../queue/schema-check.js";
import { createAdminStatements } from "../store/admin-statements.js";
import type { LaneRow } from "../store/read-lanes.js";
import { runStatement, type Statement } from "../store/statement.js";
import type { Admin, RedriveFilter, RedriveResult } from "./admin.js";
import { healthCountCap, type LaneHealth } from "./health.js";
import { type JobRecord, toJobRecord } from "./job-record.js";

export interface AdminContext {
  readonly schema: string;
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly checkSchema: SchemaCheck;
  readonly executor: Executor;
}

const statuses = ["queued", "waiting", "running", "dead", "done", "cancelled"];
/** One statement of a redrive; the whole is as many as it takes, so that none runs into a timeout. */
const largestRedrive = 1_000;
const defaultKeepMs = 7 * 86_400_000;

export function createAdmin<TJobs extends JobDefinitions>({ schema, kinds, checkSchema, executor }: AdminContext): Admin<TJobs> {
  const statements = createAdminStatements(schema);

  async function run<TInput, TRow>(statement: Statement<TInput, TRow>, input: TInput): Promise<TRow[]> {
    await checkSchema(executor);
    return runStatement(executor, statement, input);
  }

  async function find(id: string): Promise<JobRecord | null> {
    const [row] = await run(statements.findJob, { id: checkId(id) });
    return row === undefined ? null : toJobRecord(row);
  }

  async function require(id: string): Promise<JobRecord> {
    const record = await find(id);
    if (record === null) throw queueError("JOB_NOT_FOUND", `There is no job ${id}, live or in the archive.`, { jobId: id });
    return record;
  }

  async function redriveBatch(filter: RedriveFilter, after: string, limit: number) {
    return run(statements.redriveJobs, {
      id: null,
      ...checkNames(filter),
      deadAfter: filter.deadAfter === undefined ? null : checkInstant(filter.deadAfter, "deadAfter"),
      after,
      limit,
      isApplied: filter.dryRun !== true,
    });
  }

  async function retry(id: string): Promise<JobRecord> {
    const [due] = await run(statements.retryJob, { id: checkId(id) });
    if (due !== undefined) return require(id);
    const filter = { id, kind: null, lane: null, deadAfter: null, after: "-1", limit: 1, isApplied: true };
    let [dead] = await run(statements.redriveJob, filter);
    // It may have waited for a transaction, and judged the key by what was there before: this looks at what is there now.
    if (dead?.redriven === false) [dead] = await run(statements.redriveJob, filter);
    if (dead?.redriven === true) return require(id);
    const record = await require(id);
    if (dead !== undefined) {
      throw queueError(
        "KEY_HELD",
        `Job ${id} stays dead: another job of kind ${JSON.stringify(record.kind)} holds its key ${JSON.stringify(record.key)}.`,
        {
          jobId: id,
          key: record.key ?? "",
        },
      );
    }
    // It was brought back or died while this waited for it.
    if (record.status === "queued" || record.status === "dead") return retry(id);
    throw wrongState("retried", record);
  }

  return {
    job: find,

    async jobs(filter = {}) {
      refuseUnknownOptions(filter, ["status", "kind", "lane", "after", "limit"], "jobs");
      const limit = checkInteger(filter.limit ?? 50, "limit", 1, 1_000);
      if (filter.status !== undefined && !statuses.includes(filter.status)) {
        throw queueError("INVALID_OPTION", `status must be one of ${statuses.join(", ")}, but is ${showValue(filter.status)}.`, {
          option: "status",
        });
      }
      const page = {
        ...checkNames(filter),
        before: filter.after == null ? null : checkId(filter.after, "after"),
        limit: limit + 1,
      };
      const rows =
        filter.status === "dead"
          ? await run(statements.listDeadJobs, page)
          : await run(statements.listJobs, { ...page, status: filter.status ?? null });
      const items = rows.slice(0, limit).map(toJobRecord);
      return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
    },

    retry,

    async cancel(id) {
      const keeps = JSON.stringify(Object.fromEntries([...kinds].map(([kind, { options }]) => [kind, options.keepMs ?? null])));
      const [cancelled] = await run(statements.cancelJob, { id: checkId(id), keeps, defaultKeepMs });
      if (cancelled !== undefined) return toJobRecord(cancelled);
      const record = await require(id);
      if (record.status === "cancelled") return record;
      throw wrongState("cancelled", record);
    },

    async redrive(filter) {
      refuseUnknownOptions(filter, ["kind", "lane", "deadAfter", "limit", "dryRun", "all"], "redrive");
      if (filter.kind === undefined && filter.lane === undefined && filter.deadAfter === undefined && filter.all !== true) {
        throw queueError("INVALID_OPTION", "redrive needs kind, lane or deadAfter, or all: true for every dead letter.", { option: "all" });
      }
      if (filter.dryRun !== undefined && typeof filter.dryRun !== "boolean") {
        throw queueError("INVALID_OPTION", `dryRun must be true or false, but is ${showValue(filter.dryRun)}.`, { option: "dryRun" });
      }
      const wanted =
        filter.limit === undefined ? Number.POSITIVE_INFINITY : checkInteger(filter.limit, "limit", 1, Number.MAX_SAFE_INTEGER);
      const result: { count: number; dryRun: boolean; conflicts: string[] } = { count: 0, dryRun: filter.dryRun === true, conflicts: [] };
      for (let after = "-1"; result.count < wanted;) {
        const limit = Math.min(largestRedrive, wanted - result.count);
        const rows = await redriveBatch(filter, after, limit);
        result.count += rows.filter((row) => row.redriven).length;
        result.conflicts.push(...rows.filter((row) => !row.redriven).map((row) => row.id));
        const last = rows.at(-1);
        if (last === undefined || rows.length < limit) break;
        after = last.id;
      }
      return result satisfies RedriveResult;
    },

    async pause(lane) {
      await run(statements.pauseLane, { lane: checkLane(lane) });
    },

    async resume(lane) {
      await run(statements.resumeLane, { lane: checkLane(lane) });
    },

    async health() {
      const lanes = await run(statements.readLanes, { cap: healthCountCap });
      const [pressure] = await run(statements.readPressure, {});
      return {
        lanes: lanes.map(toLaneHealth),
        deadTuples: Number(pressure?.dead_tuples ?? 0),
        oldestSnapshot:
          pressure?.snapshot_pid == null
            ? null
            : {
                ageMs: Number(pressure.snapshot_age_ms),
                pid: Number(pressure.snapshot_pid),
                application: pressure.snapshot_application ?? "",
              },
        kindsWithoutWorker: JSON.parse(pressure?.kinds_without_worker ?? "[]") as string[],
      };
    },
  };
}

/** Also a kind that this queue does not define: its jobs may be there. */
function checkNames({ kind, lane }: { readonly kind?: unknown; readonly lane?: unknown }) {
  return {
    kind: kind === undefined ? null : checkName(kind, "kind", 200),
    lane: lane === undefined ? null : checkLane(lane),
  };
}

function toLaneHealth(row: LaneRow): LaneHealth {
  const counts = { ready: Number(row.ready), scheduled: Number(row.scheduled), waiting: Number(row.waiting), dead: Number(row.dead) };
  return {
    lane: row.lane,
    ...counts,
    running: Number(row.running),
    oldestReadyMs: row.oldest_ready_ms === null ? null : Math.max(0, Number(row.oldest_ready_ms)),
    expiredLeases: Number(row.expired),
    paused: row.paused,
    isCapped: Object.values(counts).some((count) => count >= healthCountCap),
  };
}

/** The largest bigint; a longer text of digits would be an error of the database, in the middle of a transaction. */
const largestId = 9_223_372_036_854_775_807n;

function checkId(id: unknown, option = "id"): string {
  if (typeof id !== "string" || !/^\d{1,19}$/.test(id) || BigInt(id) > largestId) {
    throw queueError("INVALID_OPTION", `${option} must be the id of a job, a string of digits, but is ${showValue(id)}.`, { option });
  }
  return id;
}

function wrongState(done: string, { id, status }: JobRecord) {
  return queueError("JOB_STATE", `Job ${id} is ${status} and cannot be ${done}.`, { jobId: id, status });
}
