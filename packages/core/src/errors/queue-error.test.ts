import { beforeAll, describe, expect, test, vi } from "vitest";
import type * as Core from "../index.js";
import { QueueError, queueError } from "./queue-error.js";
import { PermanentError } from "./permanent-error.js";
import { RetryAfterError } from "./retry-after-error.js";

describe("QueueError", () => {
  test("has a code, a cause, a name, and the details of its code", () => {
    const cause = new Error("below");
    const error = queueError("INVALID_PAYLOAD", "The payload cannot be stored.", { path: "$.a" }, { cause });
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(QueueError);
    expect(error).toMatchObject({ name: "QueueError", code: "INVALID_PAYLOAD", path: "$.a", isRetryable: false });
    expect(error.cause).toBe(cause);
    expect(String(error)).toBe("QueueError: The payload cannot be stored.");
    expect(error.stack).toContain("queue-error.test.ts");
  });

  test("without a cause it has none, not even an undefined one", () => {
    expect("cause" in new QueueError("UNKNOWN_KIND", "x")).toBe(false);
    expect("cause" in new QueueError("UNKNOWN_KIND", "x", { cause: undefined })).toBe(true);
  });

  test.each([
    ["LEASE_LOST", true],
    ["ATTEMPT_TIMEOUT", true],
    ["WORKER_STOPPING", true],
    ["EFFECT_IN_PROGRESS", true],
    ["INVALID_PAYLOAD", false],
    ["SCHEMA_MISSING", false],
    ["JOB_NOT_FOUND", false],
    ["DATABASE_ERROR", false],
  ] as const)("%s is retryable: %s, unless it says otherwise", (code, isRetryable) => {
    expect(new QueueError(code, "x").isRetryable).toBe(isRetryable);
    expect(new QueueError(code, "x", { isRetryable: !isRetryable }).isRetryable).toBe(!isRetryable);
  });

  test("is() tells it from everything else, and one code from the others", () => {
    const error = queueError("JOB_NOT_FOUND", "There is no job 1.", { jobId: "1" });
    expect(QueueError.is(error)).toBe(true);
    expect(QueueError.is(error, "JOB_NOT_FOUND")).toBe(true);
    expect(QueueError.is(error, "JOB_STATE")).toBe(false);
    const lookalike = Object.assign(new Error("x"), { name: "QueueError", code: "JOB_NOT_FOUND" });
    for (const other of [lookalike, new Error("x"), null, undefined, "JOB_NOT_FOUND", 5, {}, () => {}])
      expect(QueueError.is(other)).toBe(false);
  });

  test("a hostile object is somebody else's, and does not throw", () => {
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    for (const hostile of [new Proxy({}, { has: thrower }), revoked.proxy]) expect(QueueError.is(hostile)).toBe(false);
  });

  test("no detail leaks into the message of JSON.stringify, and the mark is invisible", () => {
    const error = queueError("INVALID_OPTION", "x", { option: "delay" });
    expect(Object.keys(error).sort()).toEqual(["code", "isRetryable", "name", "option"]);
  });
});

describe("PermanentError", () => {
  test("carries message and cause, and is known by instanceof", () => {
    const cause = new Error("below");
    const error = new PermanentError("no such customer", { cause });
    expect(error).toMatchObject({ name: "PermanentError", message: "no such customer" });
    expect(error.cause).toBe(cause);
    expect("cause" in new PermanentError("x")).toBe(false);
    expect(error instanceof PermanentError && error instanceof Error).toBe(true);
  });

  test("is known by its name where a copy lost everything else", () => {
    const cloned: unknown = structuredClone(new PermanentError("x"));
    const bundled = Object.assign(new Error("x"), { name: "PermanentError" });
    expect(bundled instanceof PermanentError).toBe(true);
    // structuredClone keeps only the names of the language's own errors.
    expect(cloned instanceof PermanentError).toBe(false);
    for (const other of [new Error("x"), null, undefined, "PermanentError", Object.assign(() => {}, { x: 1 })]) {
      expect(other instanceof PermanentError).toBe(false);
    }
  });

  test("a hostile object is somebody else's, and does not throw", () => {
    const hostile = new Proxy({}, { has: thrower, get: thrower });
    expect(hostile instanceof PermanentError).toBe(false);
    expect(hostile instanceof RetryAfterError).toBe(false);
  });
});

describe("RetryAfterError", () => {
  test("carries the delay in milliseconds, a message and a cause", () => {
    const cause = new Error("429");
    expect(new RetryAfterError("1m", { message: "rate limit", cause })).toMatchObject({
      name: "RetryAfterError",
      delayMs: 60_000,
      message: "rate limit",
      cause,
    });
    expect(new RetryAfterError(1_500)).toMatchObject({ delayMs: 1_500, message: "retry after 1500" });
    expect(new RetryAfterError("0s") instanceof RetryAfterError).toBe(true);
  });

  test.each(["1 minute", -1, Number.NaN, undefined, null])("a delay of %s is a mistake at once", (delay) => {
    expect(() => new RetryAfterError(delay as never)).toThrow(expect.objectContaining({ code: "INVALID_OPTION", option: "delay" }));
  });

  test("one whose delay was lost or spoiled is an ordinary failure", () => {
    const error = new RetryAfterError("1m");
    Object.assign(error, { delayMs: "soon" });
    expect(error instanceof RetryAfterError).toBe(false);
    expect(Object.assign(new Error("x"), { delayMs: 5 }) instanceof RetryAfterError).toBe(false);
  });
});

describe("two copies of the package", () => {
  let copy: typeof Core;
  beforeAll(async () => {
    vi.resetModules();
    copy = await import("../index.js");
  });

  test("are two", () => {
    expect(copy.QueueError).not.toBe(QueueError);
  });

  test("know each other's errors", () => {
    const ours = queueError("INVALID_PAYLOAD", "x", { path: "$" });
    const theirs = new copy.QueueError("INVALID_PAYLOAD", "x");
    expect(copy.QueueError.is(ours) && QueueError.is(theirs, "INVALID_PAYLOAD")).toBe(true);
    expect(QueueError.is(theirs, "INVALID_OPTION")).toBe(false);
    expect(new copy.PermanentError("x") instanceof PermanentError).toBe(true);
    expect(new PermanentError("x") instanceof copy.PermanentError).toBe(true);
    expect(new copy.RetryAfterError("1s") instanceof RetryAfterError).toBe(true);
    expect(new copy.RetryAfterError("1s") instanceof PermanentError).toBe(false);
  });
});

function thrower(): never {
  throw new Error("hostile");
}
