import { PermanentError, QueueError, type QueueErrorCode, RetryAfterError } from "@queue/core";
import { expectTypeOf, test } from "vitest";

const error = {} as unknown;

test("is() narrows to the class, and with a code to what the code adds", () => {
  if (QueueError.is(error)) {
    expectTypeOf(error.code).toEqualTypeOf<QueueErrorCode>();
    expectTypeOf(error.isRetryable).toEqualTypeOf<boolean>();
    expectTypeOf(error.cause).toEqualTypeOf<unknown>();
  }
  if (QueueError.is(error, "INVALID_PAYLOAD")) {
    expectTypeOf(error.code).toEqualTypeOf<"INVALID_PAYLOAD">();
    expectTypeOf(error.path).toEqualTypeOf<string>();
    expectTypeOf(error.index).toEqualTypeOf<number | undefined>();
  }
  if (QueueError.is(error, "JOB_NOT_FOUND")) expectTypeOf(error.jobId).toEqualTypeOf<string>();
  if (QueueError.is(error, "SCHEMA_TOO_NEW")) expectTypeOf(error.schema).toEqualTypeOf<string>();
  if (QueueError.is(error, "INVALID_OPTION")) expectTypeOf(error.option).toEqualTypeOf<string>();
  if (QueueError.is(error, "UNKNOWN_KIND")) expectTypeOf(error.kind).toEqualTypeOf<string>();
  // @ts-expect-error not a code
  QueueError.is(error, "INVALID_PAYLOADS");
});

test("the codes are literals", () => {
  expectTypeOf<
    | "INVALID_PAYLOAD"
    | "INVALID_OPTION"
    | "UNKNOWN_KIND"
    | "SCHEMA_MISSING"
    | "SCHEMA_TOO_NEW"
    | "SERVER_TOO_OLD"
    | "LEASE_LOST"
    | "JOB_NOT_FOUND"
  >().toExtend<QueueErrorCode>();
  expectTypeOf<string>().not.toExtend<QueueErrorCode>();
});

test("domain code throws PermanentError and RetryAfterError with a cause", () => {
  expectTypeOf(new PermanentError("no such customer", { cause: error })).toExtend<Error>();
  expectTypeOf(new RetryAfterError("1m", { message: "rate limit", cause: error })).toExtend<Error>();
  expectTypeOf(new RetryAfterError(1_500).delayMs).toEqualTypeOf<number>();
  // @ts-expect-error not a duration
  expectTypeOf(new RetryAfterError("1 minute"));
  // @ts-expect-error a message is needed
  expectTypeOf(new PermanentError());
});

test("two copies of the package fit each other: no public class has a private member", () => {
  interface SamePermanentError extends Error {}
  expectTypeOf<SamePermanentError>().toExtend<PermanentError>();
  expectTypeOf<Error & { readonly code: QueueErrorCode; readonly isRetryable: boolean }>().toExtend<QueueError>();
  expectTypeOf<Error & { readonly delayMs: number }>().toExtend<RetryAfterError>();
});
