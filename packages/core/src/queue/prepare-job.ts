import { QueueError, queueError } from "../errors/queue-error.js";
import { checkPayload } from "../job/check-payload.js";
import { encodePayload } from "../job/encode-payload.js";
import type { JobDefinition, JobDefinitions, ResolvedJobOptions } from "../job/job-definition.js";
import { resolveJobOptions } from "../job/job-definition.js";
import { checkName, refuseUnknownOptions } from "../job/job-options.js";
import { showValue } from "../errors/show-value.js";
import type { PreparedJob } from "./encode-rows.js";
import { type EnqueueOptions, resolveEnqueueOptions } from "./enqueue-options.js";

/** A kind as the queue works with it. */
export interface Kind {
  readonly definition: JobDefinition<unknown, unknown>;
  readonly options: ResolvedJobOptions;
}

/** @throws QueueError `INVALID_OPTION` when a name or an option cannot be */
export function resolveKinds(jobs: JobDefinitions): ReadonlyMap<string, Kind> {
  if (typeof jobs !== "object" || jobs === null) {
    throw queueError("INVALID_OPTION", `jobs must be an object of kinds, made by job(), but is ${showValue(jobs)}.`, { option: "jobs" });
  }
  return new Map(
    Object.entries(jobs).map(([kind, definition]) => {
      checkName(kind, "jobs: the name of a kind", 200);
      if (typeof definition !== "object" || definition === null || typeof definition.options !== "object") {
        throw queueError("INVALID_OPTION", `jobs[${JSON.stringify(kind)}] must be made by job(), but is ${showValue(definition)}.`, {
          option: "jobs",
        });
      }
      return [kind, { definition, options: resolveJobOptions(definition.options) }];
    }),
  );
}

/**
 * Checks everything about one job, before any SQL.
 *
 * @throws QueueError `UNKNOWN_KIND`, `INVALID_PAYLOAD`, `INVALID_OPTION`
 */
export function prepareJob(
  kinds: ReadonlyMap<string, Kind>,
  kind: string,
  payload: unknown,
  options: EnqueueOptions = {},
): PreparedJob | Promise<PreparedJob> {
  const known = kinds.get(kind);
  if (known === undefined) throw unknownKind(kind, kinds);
  const prepared: PreparedJob = {
    kind,
    payload: encodePayload(payload),
    options: resolveEnqueueOptions(options, known.options),
  };
  const { schema } = known.definition;
  if (schema === undefined) return prepared;
  const checked = checkPayload(kind, schema, payload);
  return checked instanceof Promise ? checked.then(() => prepared) : prepared;
}

/** In UTF-16 units of all payloads. A batch is one jsonb, which ends at 256 MB and can be six times as long as its text. */
const maxBatchLength = 32 * 1024 * 1024;

function tooLarge() {
  return queueError(
    "INVALID_OPTION",
    `The payloads up to this item are more than ${maxBatchLength} characters of JSON: enqueue them in several calls.`,
    {
      option: "items",
    },
  );
}

/** Prepares a batch; the first bad item rejects all of it, with its `index`. */
export async function prepareJobs(kinds: ReadonlyMap<string, Kind>, items: readonly unknown[]): Promise<PreparedJob[]> {
  if (!Array.isArray(items)) {
    throw queueError("INVALID_OPTION", `enqueueMany takes an array of { kind, payload, options }, but was given ${showValue(items)}.`, {
      option: "items",
    });
  }
  const prepared: PreparedJob[] = [];
  let length = 0;
  for (const [index, item] of items.entries()) {
    try {
      refuseUnknownOptions(item, ["kind", "payload", "options"], "an item");
      const { kind, payload, options } = item as { kind: string; payload: unknown; options?: EnqueueOptions };
      const job = prepareJob(kinds, kind, payload, options);
      prepared.push(job instanceof Promise ? await job : job);
      length += prepared.at(-1)?.payload.length ?? 0;
      if (length > maxBatchLength) throw tooLarge();
    } catch (error) {
      throw withIndex(error, index);
    }
  }
  return prepared;
}

export function unknownKind(kind: string, kinds: ReadonlyMap<string, unknown>): QueueError {
  const known = [...kinds.keys()].slice(0, 10).map((name) => JSON.stringify(name));
  const more = kinds.size > known.length ? `, and ${kinds.size - known.length} more` : "";
  return queueError(
    "UNKNOWN_KIND",
    `This queue does not define the kind ${showValue(kind)}. It has: ${known.join(", ") || "none"}${more}.`,
    { kind },
  );
}

function withIndex(error: unknown, index: number): unknown {
  if (!QueueError.is(error)) return error;
  const { message, code, cause, isRetryable } = error;
  const placed = new QueueError(code, `Item ${index}: ${message}`, { isRetryable, ...(cause === undefined ? {} : { cause }) });
  const details = Object.fromEntries(Object.entries(error).filter(([name]) => !["code", "isRetryable", "name"].includes(name)));
  return Object.assign(placed, details, { index });
}
