import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { thrownBy } from "../../test/support/thrown-by.js";
import { job, type JobOptions, resolveJobOptions } from "./job-definition.js";

describe("the options of a kind", () => {
  test("have defaults: lane default, 8 attempts, 2 s to 5 min, no timeout, priority 5, kept for a week", () => {
    expect(resolveJobOptions({})).toEqual({
      lane: "default",
      maxAttempts: 8,
      backoff: { baseMs: 2_000, capMs: 300_000 },
      timeoutMs: undefined,
      priority: 5,
      keepMs: 604_800_000,
    });
  });

  test("undefined is the default, in every option", () => {
    const nothing: JobOptions = {
      lane: undefined,
      maxAttempts: undefined,
      backoff: undefined,
      timeout: undefined,
      priority: undefined,
      keep: undefined,
    };
    expect(resolveJobOptions(nothing)).toEqual(resolveJobOptions({}));
    expect(resolveJobOptions({ backoff: { base: undefined, cap: undefined } })).toEqual(resolveJobOptions({}));
  });

  test("come out in milliseconds, frozen", () => {
    const options = resolveJobOptions({
      lane: "mail",
      maxAttempts: 1,
      backoff: { base: "500ms", cap: "1m" },
      timeout: "30s",
      priority: 0,
      keep: "1d",
    });
    expect(options).toEqual({
      lane: "mail",
      maxAttempts: 1,
      backoff: { baseMs: 500, capMs: 60_000 },
      timeoutMs: 30_000,
      priority: 0,
      keepMs: 86_400_000,
    });
    expect(Object.isFrozen(options) && Object.isFrozen(options.backoff)).toBe(true);
  });

  test("keep: false keeps nothing, keep: 0 keeps for no time", () => {
    expect(resolveJobOptions({ keep: false }).keepMs).toBeUndefined();
    expect(resolveJobOptions({ keep: 0 }).keepMs).toBe(0);
    expect(resolveJobOptions({ keep: "400d" }).keepMs).toBe(34_560_000_000);
  });

  const wrong: readonly (readonly [option: string, options: object])[] = [
    ["lane", { lane: "" }],
    ["lane", { lane: "x".repeat(201) }],
    ["lane", { lane: "\u00fc".repeat(101) }],
    ["lane", { lane: "a\u0000" }],
    ["lane", { lane: "a\uD800" }],
    ["lane", { lane: 5 }],
    ["maxAttempts", { maxAttempts: 0 }],
    ["maxAttempts", { maxAttempts: -1 }],
    ["maxAttempts", { maxAttempts: 1.5 }],
    ["maxAttempts", { maxAttempts: 2 ** 31 }],
    ["maxAttempts", { maxAttempts: Number.POSITIVE_INFINITY }],
    ["maxAttempts", { maxAttempts: "8" }],
    ["priority", { priority: 10 }],
    ["priority", { priority: -1 }],
    ["priority", { priority: 1.5 }],
    ["priority", { priority: 40_000 }],
    ["priority", { priority: 2 ** 31 }],
    ["priority", { priority: "high" }],
    ["backoff.base", { backoff: { base: "2 seconds" } }],
    ["backoff.cap", { backoff: { cap: -1 } }],
    ["bas", { backoff: { bas: "2s" } }],
    ["backoff", { backoff: "2s" }],
    ["backoff", { backoff: null }],
    ["timeout", { timeout: 0 }],
    ["timeout", { timeout: 2 ** 31 }],
    ["timeout", { timeout: "30" }],
    ["keep", { keep: true }],
    ["keep", { keep: "401d" }],
    ["keep", { keep: null }],
    ["maxAtempts", { maxAtempts: 3 }],
    ["toString", { toString: "x" }],
  ];
  test.each(wrong.map(([option, options]) => [inspect(options, { breakLength: Infinity }).slice(0, 60), option, options] as const))(
    "B72: %s is refused, naming %s",
    (_shown, option, options) => {
      expect(thrownBy(() => job(options as JobOptions))).toMatchObject({
        code: "INVALID_OPTION",
        option,
        message: expect.stringContaining(option),
      });
    },
  );

  test.each([[null], [[]], ["mail"], [5]])("%j is no object of options", (options) => {
    const error = thrownBy(() => resolveJobOptions(options as unknown as JobOptions));
    expect(error).toMatchObject({ code: "INVALID_OPTION", option: "job" });
  });

  test("a name of 200 bytes is a lane", () => {
    expect(resolveJobOptions({ lane: "\u00fc".repeat(100) }).lane).toHaveLength(100);
  });

  test("the message says what was given, what is expected, and which options there are", () => {
    expect(thrownBy(() => job({ priority: 10 } as unknown as JobOptions)).message).toBe(
      "priority must be a whole number from 0 to 9, but is 10.",
    );
    expect(thrownBy(() => job({ maxAtempts: 3 } as JobOptions)).message).toBe(
      'job has no option "maxAtempts". It has: lane, maxAttempts, backoff, timeout, priority, keep.',
    );
  });
});

describe("job()", () => {
  test("keeps the options as they were given, and the schema", () => {
    const schema = z.object({ a: z.string() });
    const definition = job({ payload: schema, lane: "mail", timeout: "30s" });
    expect(definition).toEqual({ options: { lane: "mail", timeout: "30s" }, schema });
    expect(Object.isFrozen(definition) && Object.isFrozen(definition.options)).toBe(true);
    expect(job().schema).toBeUndefined();
  });

  test("a later change of the object that was given changes nothing", () => {
    const options: { lane: string } = { lane: "mail" };
    const definition = job(options);
    options.lane = "other";
    expect(definition.options.lane).toBe("mail");
  });

  test("takes any object or function that speaks Standard Schema", () => {
    const schema = { "~standard": { version: 1 as const, vendor: "own", validate: (value: unknown) => ({ value }) } };
    expect(job({ payload: schema }).schema).toBe(schema);
    const callable = Object.assign(() => true, schema);
    expect(job({ payload: callable }).schema).toBe(callable);
  });

  test.each([["a string"], [{ orderId: "string" }], [null], [{ "~standard": {} }], [() => true]])(
    "refuses %s as a payload schema",
    (payload) => {
      const error = thrownBy(() => job({ payload } as never));
      expect(error).toMatchObject({ code: "INVALID_OPTION", option: "payload" });
      expect(error.message).toContain("For a type without a schema write job<Type>()");
    },
  );
});
