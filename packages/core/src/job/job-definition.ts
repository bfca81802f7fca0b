import { queueError } from "../errors/queue-error.js";
import { showValue } from "../errors/show-value.js";
import { type BackoffMs, defaultBackoff } from "../schedule/backoff.js";
import { type Duration, parseDuration } from "./duration.js";
import type { JsonCheck, JsonPayload } from "./json-value.js";
import { checkLane, checkMaxAttempts, checkPriority, type Priority, refuseUnknownOptions } from "./job-options.js";
import type { InferSchemaInput, InferSchemaOutput, StandardSchemaV1 } from "./standard-schema.js";

/** How long to wait before the next attempt: uniform from 0 to `min(cap, base · 2^(attempt − 1))`, "full jitter". */
export interface Backoff {
  /** The ceiling after the first failed attempt. @default "2s" */
  readonly base?: Duration | undefined;
  /** The highest ceiling. @default "5m" */
  readonly cap?: Duration | undefined;
}

export interface JobOptions {
  /** The named line that jobs of this kind wait in, and that workers serve. @default "default" */
  readonly lane?: string | undefined;
  /** How many times the handler is started before the job is dead, from 1. @default 8 */
  readonly maxAttempts?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /** How long one attempt may take; then its signal aborts and the attempt has failed. @default no limit */
  readonly timeout?: Duration | undefined;
  /** 0 is first, 9 is last. Lower ones wait as long as there are higher ones in the lane. @default 5 */
  readonly priority?: Priority | undefined;
  /**
   * How long the archive keeps a job once it is done or cancelled, at least, up to 400 days; `false`: not at all. A day of the
   * archive goes as a whole, when the last of its jobs may go. Dead letters stay until somebody decides. @default "7d"
   */
  readonly keep?: Duration | false | undefined;
}

/** One kind of job: its options, and the two types of its payload. */
export interface JobDefinition<TInput, TPayload> {
  readonly options: JobOptions;
  readonly schema: StandardSchemaV1<TInput, TPayload> | undefined;
  /** Types only, absent at run time. */
  readonly "~types"?: { readonly input: TInput; readonly payload: TPayload } | undefined;
}

export type JobDefinitions = { readonly [kind: string]: JobDefinition<unknown, unknown> };

/**
 * The bound of `job({ payload })`: what goes in must survive JSON, what comes out may be anything. `unknown` when all is well,
 * because the structure, always there, made five hundred kinds take seconds longer to check.
 */
export type JsonInputSchema<TSchema extends StandardSchemaV1> = [InferSchemaInput<TSchema>] extends [JsonCheck<InferSchemaInput<TSchema>>]
  ? unknown
  : { readonly "~standard": { readonly types?: { readonly input: JsonCheck<InferSchemaInput<TSchema>> } | undefined } };

/**
 * Defines a kind of job. With a schema (`payload`), `enqueue` checks and stores the schema's input, and the handler gets its
 * output, computed at each attempt. With a type only (`job<{ id: string }>()`), the compiler checks. With neither, the kind
 * has no payload and `enqueue` takes `null`.
 *
 * @throws QueueError `INVALID_OPTION` naming the option
 * @example "order.send-receipt": job({ payload: z.object({ orderId: z.string() }), lane: "mail", timeout: "30s" })
 */
export function job<TPayload extends JsonPayload<TPayload> = null, TSchema extends StandardSchemaV1 = StandardSchemaV1<TPayload>>(
  options: JobOptions & { readonly payload?: TSchema & JsonInputSchema<TSchema> } = {},
): JobDefinition<InferSchemaInput<TSchema>, InferSchemaOutput<TSchema>> {
  const { payload, ...jobOptions } = options;
  if (payload !== undefined && typeof (payload as Partial<StandardSchemaV1> | null)?.["~standard"]?.validate !== "function") {
    throw queueError(
      "INVALID_OPTION",
      `payload must be a schema of a Standard Schema library (zod, valibot, arktype …), but is ${showValue(payload)}. For a type without a schema write job<Type>().`,
      { option: "payload" },
    );
  }
  resolveJobOptions(jobOptions);
  return Object.freeze({
    options: Object.freeze(jobOptions),
    schema: payload,
  });
}

/** The options of a kind, with defaults, in milliseconds. */
export interface ResolvedJobOptions {
  readonly lane: string;
  readonly maxAttempts: number;
  readonly backoff: BackoffMs;
  readonly timeoutMs: number | undefined;
  readonly priority: number;
  /** `undefined`: the archive does not get it. */
  readonly keepMs: number | undefined;
}

const maxKeepMs = 400 * 86_400_000;

/** @throws QueueError `INVALID_OPTION` naming the option */
export function resolveJobOptions(options: JobOptions): ResolvedJobOptions {
  refuseUnknownOptions(options, ["lane", "maxAttempts", "backoff", "timeout", "priority", "keep"], "job");
  const { lane = "default", maxAttempts = 8, backoff = {}, timeout, priority = 5, keep = "7d" } = options;
  refuseUnknownOptions(backoff, ["base", "cap"], "backoff");
  return Object.freeze({
    lane: checkLane(lane),
    maxAttempts: checkMaxAttempts(maxAttempts),
    backoff: Object.freeze({
      baseMs: backoff.base === undefined ? defaultBackoff.baseMs : parseDuration(backoff.base, "backoff.base"),
      capMs: backoff.cap === undefined ? defaultBackoff.capMs : parseDuration(backoff.cap, "backoff.cap"),
    }),
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout, "timeout", { minMs: 1, maxMs: 2_147_483_647 }),
    priority: checkPriority(priority),
    keepMs: keep === false ? undefined : parseDuration(keep, "keep", { maxMs: maxKeepMs }),
  });
}
