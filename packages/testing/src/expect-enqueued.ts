import { AssertionError } from "node:assert";
import type { EnqueueTarget, HasJobs, InferKind, InferPayloadInput, JobDefinitions, JobRecord, Priority, Queue } from "@queue/core";
import { checkInteger, refuseUnknownOptions, resolveKinds, unknownKind } from "@queue/core/internal";
import { containsJson } from "./contains-json.js";
import { describeEnqueued, listJobs } from "./describe-enqueued.js";

/** A part of a payload: any members of its objects; of an array all elements. */
export type PartialPayload<TPayload> = TPayload extends readonly (infer TElement)[]
  ? readonly PartialPayload<TElement>[]
  : TPayload extends object
    ? { readonly [TName in keyof TPayload]?: PartialPayload<TPayload[TName]> | undefined }
    : TPayload;

/** What else the job has to be. What is left out does not matter. */
export interface ExpectEnqueuedOptions {
  /** Exactly so many jobs have to match. @default at least one */
  readonly count?: number | undefined;
  readonly key?: string | undefined;
  readonly lane?: string | undefined;
  readonly priority?: Priority | undefined;
  /** `"any"`: whatever has become of it. @default "queued" */
  readonly status?: JobRecord["status"] | "any" | undefined;
}

/** A queue of any schema, as the assertions take it. */
type AnyQueue = HasJobs & Pick<Queue<JobDefinitions, string>, "schema" | "admin">;

/**
 * Expects that a job of `kind` is queued whose payload contains `partial`: the stored payload, which is what `enqueue` was given.
 * Also inside a transaction: `db` may be whatever `enqueue` takes.
 *
 * @returns the newest job that matches
 * @throws AssertionError of `node:assert`, with a message that shows what was enqueued instead; QueueError `UNKNOWN_KIND`
 * @example await expectEnqueued(db, queue, "order.send-receipt", { orderId: "o1" }, { key: "receipt-o1" });
 */
export async function expectEnqueued<TQueue extends AnyQueue, TKind extends InferKind<TQueue>>(
  db: EnqueueTarget,
  queue: TQueue,
  kind: TKind,
  partial?: PartialPayload<InferPayloadInput<TQueue, TKind>>,
  options: ExpectEnqueuedOptions = {},
): Promise<JobRecord> {
  const { count, ...expected } = checked(queue, kind, options, "expectEnqueued", ["count"]);
  if (count !== undefined) checkInteger(count, "count", 1, Number.MAX_SAFE_INTEGER);
  const jobs = await listJobs(queue.admin(db), expected.status);
  const matching = jobs.filter((job) => matches(job, kind, partial, expected));
  const [newest] = matching;
  const isEnough = count === undefined ? matching.length > 0 : matching.length === count;
  if (isEnough && newest !== undefined) return newest;
  const wanted = count === undefined ? "a job" : count === 1 ? "1 job" : `${count} jobs`;
  const found = count === undefined ? "there is none" : `there are ${matching.length}`;
  throw failure(`Expected ${wanted} ${describeExpected(kind, partial, expected)}, but ${found}.`, kind, partial, jobs, expectEnqueued);
}

/**
 * Expects that no job of `kind` is queued whose payload contains `partial`.
 *
 * @throws AssertionError of `node:assert`, with a message that shows the jobs; QueueError `UNKNOWN_KIND`
 * @example await expectNotEnqueued(db, queue, "order.send-receipt", { orderId: "o2" });
 */
export async function expectNotEnqueued<TQueue extends AnyQueue, TKind extends InferKind<TQueue>>(
  db: EnqueueTarget,
  queue: TQueue,
  kind: TKind,
  partial?: PartialPayload<InferPayloadInput<TQueue, TKind>>,
  options: Omit<ExpectEnqueuedOptions, "count"> = {},
): Promise<void> {
  const expected = checked(queue, kind, options, "expectNotEnqueued", []);
  const jobs = await listJobs(queue.admin(db), expected.status);
  const matching = jobs.filter((job) => matches(job, kind, partial, expected));
  if (matching.length === 0) return;
  throw failure(
    `Expected no job ${describeExpected(kind, partial, expected)}, but there ${matching.length === 1 ? "is one" : `are ${matching.length}`}.`,
    kind,
    partial,
    matching,
    expectNotEnqueued,
  );
}

function checked(queue: AnyQueue, kind: string, options: ExpectEnqueuedOptions, caller: string, others: readonly string[]) {
  refuseUnknownOptions(options, ["key", "lane", "priority", "status", ...others], caller);
  const kinds = resolveKinds(queue.jobs);
  if (!kinds.has(kind)) throw unknownKind(kind, kinds);
  return { ...options, status: options.status ?? ("queued" as const) };
}

type Expected = Omit<ExpectEnqueuedOptions, "count">;

function matches(job: JobRecord, kind: string, partial: unknown, { key, lane, priority, status }: Expected): boolean {
  return (
    job.kind === kind &&
    (status === "any" || job.status === status) &&
    (key === undefined || job.key === key) &&
    (lane === undefined || job.lane === lane) &&
    (priority === undefined || job.priority === priority) &&
    (partial === undefined || containsJson(job.payload, partial))
  );
}

function describeExpected(kind: string, partial: unknown, { status, ...expected }: Expected): string {
  const rest = Object.entries(expected).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${JSON.stringify(value)}`]));
  const parts = [...(partial === undefined ? [] : [`a payload that contains ${JSON.stringify(partial)}`]), ...rest];
  return `${status === "any" ? "" : `that is ${status}, `}of kind ${JSON.stringify(kind)}${parts.length === 0 ? "" : `, with ${parts.join(" and ")}`}`;
}

function failure(sentence: string, kind: string, partial: unknown, jobs: readonly JobRecord[], caller: (...args: never[]) => unknown) {
  return new AssertionError({
    message: `${sentence}\n${describeEnqueued(kind, jobs)}`,
    actual: jobs.filter((job) => job.kind === kind).map(({ payload }) => payload),
    expected: partial,
    operator: caller.name,
    stackStartFn: caller,
  });
}
