import { queueError } from "../errors/queue-error.js";
import { showPath } from "./payload-path.js";
import type { StandardIssue, StandardSchemaV1 } from "./standard-schema.js";

/**
 * What `schema` makes of `value`. A plain value when the schema answers at once, a promise only when it is asynchronous, so
 * that a batch of a thousand costs no thousand turns of the event loop.
 *
 * @throws QueueError `INVALID_PAYLOAD` with the path of the first issue
 */
export function checkPayload<TOutput>(
  kind: string,
  schema: StandardSchemaV1<unknown, TOutput>,
  value: unknown,
): TOutput | Promise<TOutput> {
  const result = schema["~standard"].validate(value);
  return isPromise(result) ? Promise.resolve(result).then((settled) => accept(kind, settled)) : accept(kind, result);
}

/** Also one of another library or realm: taken for an answer, it would accept anything. */
function isPromise<T extends object>(result: T | Promise<T>): result is Promise<T> {
  return "then" in result && typeof result.then === "function";
}

function accept<TOutput>(
  kind: string,
  result: { readonly value: TOutput; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] },
): TOutput {
  if (result.issues === undefined) return result.value;
  const issue = result.issues[0];
  const path = showPath((issue?.path ?? []).map((segment) => (typeof segment === "object" ? segment.key : segment)));
  const more = result.issues.length > 1 ? ` (and ${result.issues.length - 1} more)` : "";
  throw queueError(
    "INVALID_PAYLOAD",
    `The payload of ${JSON.stringify(kind)} does not fit its schema: ${path}: ${issue?.message ?? "refused"}${more}.`,
    { path },
    { cause: result.issues },
  );
}
