import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { rejectionOf, thrownBy } from "../../test/support/thrown-by.js";
import { QueueError } from "../errors/queue-error.js";
import { job } from "../job/job-definition.js";
import type { JobDefinitions } from "../job/job-definition.js";
import { encodeRows } from "./encode-rows.js";
import { prepareJob, prepareJobs, resolveKinds } from "./prepare-job.js";

const kinds = resolveKinds({
  "order.pay": job({
    payload: z.object({ at: z.iso.datetime().transform((text) => new Date(text)), count: z.number().default(1) }),
    lane: "pay",
  }),
  "order.check": job({
    payload: v.pipeAsync(
      v.string(),
      v.checkAsync((text) => Promise.resolve(text === "good"), "not good"),
    ),
  }),
  plain: job<{ a: number }>(),
  none: job(),
  constructor: job<string>(),
});

describe("one job", () => {
  test("stores the schema's input as it was given, not its output", () => {
    const payload = { at: "2026-01-01T00:00:00Z", extra: true };
    expect(prepareJob(kinds, "order.pay", payload)).toMatchObject({
      kind: "order.pay",
      payload: JSON.stringify(payload),
      options: { lane: "pay" },
    });
  });

  test("is there at once, and a promise only when its schema is asynchronous", async () => {
    expect(prepareJob(kinds, "plain", { a: 1 })).not.toBeInstanceOf(Promise);
    const later = prepareJob(kinds, "order.check", "good");
    expect(later).toBeInstanceOf(Promise);
    await expect(later).resolves.toMatchObject({ payload: '"good"' });
  });

  test("B15: names of Object.prototype are kinds only when they are defined", () => {
    expect(prepareJob(kinds, "constructor", "x")).toMatchObject({ kind: "constructor" });
    for (const kind of ["toString", "__proto__", "hasOwnProperty", ""]) {
      expect(thrownBy(() => prepareJob(kinds, kind, null))).toMatchObject({ code: "UNKNOWN_KIND", kind });
    }
  });

  test("of an unknown kind says which kinds there are", () => {
    expect(thrownBy(() => prepareJob(kinds, "order.pai", null)).message).toBe(
      'This queue does not define the kind "order.pai". It has: "order.pay", "order.check", "plain", "none", "constructor".',
    );
    const many = resolveKinds(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`k${n}`, job()])));
    expect(thrownBy(() => prepareJob(many, "x", null)).message).toContain('"k9", and 2 more.');
    expect(thrownBy(() => prepareJob(new Map(), "x", null)).message).toContain("It has: none.");
  });

  test("is refused for its payload before its schema sees it, and for its schema and its options", () => {
    expect(thrownBy(() => prepareJob(kinds, "plain", { a: 1n }))).toMatchObject({ code: "INVALID_PAYLOAD", path: "$.a" });
    expect(thrownBy(() => prepareJob(kinds, "order.pay", { at: "yesterday" }))).toMatchObject({ code: "INVALID_PAYLOAD", path: "$.at" });
    expect(thrownBy(() => prepareJob(kinds, "none", null, { delay: -1 }))).toMatchObject({ code: "INVALID_OPTION", option: "delay" });
    expect(thrownBy(() => prepareJob(kinds, "none", null, null as never))).toMatchObject({ code: "INVALID_OPTION", option: "enqueue" });
  });
});

describe("a batch", () => {
  test("keeps the order", async () => {
    const prepared = await prepareJobs(kinds, [
      { kind: "order.check", payload: "good" },
      { kind: "plain", payload: { a: 1 }, options: { key: "k" } },
      { kind: "none", payload: null, options: undefined },
      { kind: "none" },
    ]);
    expect(prepared.map(({ kind, payload }) => [kind, payload])).toEqual([
      ["order.check", '"good"'],
      ["plain", '{"a":1}'],
      ["none", "null"],
      ["none", "null"],
    ]);
  });

  test.each<[name: string, item: unknown, expected: object]>([
    ["a payload that JSON has not", { kind: "plain", payload: { a: 1n } }, { code: "INVALID_PAYLOAD", path: "$.a" }],
    ["a payload that its schema refuses", { kind: "order.pay", payload: {} }, { code: "INVALID_PAYLOAD", path: "$.at" }],
    ["a payload that its asynchronous schema refuses", { kind: "order.check", payload: "bad" }, { code: "INVALID_PAYLOAD", path: "$" }],
    ["an unknown kind", { kind: "x", payload: null }, { code: "UNKNOWN_KIND", kind: "x" }],
    ["a wrong option", { kind: "none", payload: null, options: { priority: 10 } }, { code: "INVALID_OPTION", option: "priority" }],
    ["a slip in a name", { kind: "none", payload: null, option: {} }, { code: "INVALID_OPTION", option: "option" }],
    ["no object", null, { code: "INVALID_OPTION", option: "an item" }],
  ])("is refused as a whole for %s, with the index", async (_name, item, expected) => {
    const error = await rejectionOf(prepareJobs(kinds, [{ kind: "none", payload: null }, item]));
    expect(error).toMatchObject({ ...expected, index: 1, name: "QueueError" });
    expect(error.message).toMatch(/^Item 1: /);
    expect(QueueError.is(error)).toBe(true);
  });

  test("keeps the cause, and leaves an error that is not ours as it is", async () => {
    const reason = new Error("not today");
    const failing = resolveKinds({
      bad: job({
        payload: {
          "~standard": {
            version: 1,
            vendor: "own",
            validate: () => {
              throw reason;
            },
          },
        },
      }),
    });
    expect(await rejectionOf(prepareJobs(failing, [{ kind: "bad", payload: 1 }]))).toBe(reason);
    const refused = await rejectionOf(prepareJobs(kinds, [{ kind: "order.pay", payload: {} }]));
    expect(refused.cause).toHaveLength(1);
  });

  test.each([
    ["nothing", undefined],
    ["an object", {}],
    ["a text", "x"],
    ["an iterator", new Set()],
  ])("is no %s", async (_name, items) => {
    expect(await rejectionOf(prepareJobs(kinds, items as never))).toMatchObject({ code: "INVALID_OPTION", option: "items" });
  });
});

describe("the kinds of a queue", () => {
  test.each<[name: string, jobs: unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a definition that job() did not make", { a: { lane: "mail" } }],
    ["null as a definition", { a: null }],
    ["an empty name", { "": job() }],
    ["a name that is too long", { ["x".repeat(201)]: job() }],
    ["a name with NUL", { "a\u0000": job() }],
    ["options that were changed by hand", { a: { options: { priority: 10 }, schema: undefined } }],
  ])("are not %s", (_name, jobs) => {
    expect(thrownBy(() => resolveKinds(jobs as JobDefinitions))).toMatchObject({ code: "INVALID_OPTION" });
  });
});

describe("the one parameter that a batch of any size is sent as", () => {
  test("holds payloads as they were encoded, and the columns that the statement reads", async () => {
    const prepared = await prepareJobs(kinds, [
      { kind: "plain", payload: { a: 1 }, options: { key: 'k"', keyHolds: "until-ended" } },
      { kind: "none", payload: null },
    ]);
    expect(JSON.parse(encodeRows(prepared, true))).toEqual([
      {
        position: 0,
        kind: "plain",
        lane: "default",
        priority: 5,
        max_attempts: 8,
        delay_ms: 0,
        run_at: null,
        key: 'k"',
        hold_ms: null,
        release_on: "ended",
        payload: { a: 1 },
      },
      expect.objectContaining({ position: 1, kind: "none", key: null, payload: null }),
    ]);
    expect(JSON.parse(encodeRows(prepared, false))).toEqual([
      expect.not.objectContaining({ key: expect.anything() }),
      expect.not.objectContaining({ hold_ms: expect.anything() }),
    ]);
  });

  test("refuses a batch whose payloads are more than one jsonb holds, at the item that is too much", async () => {
    const item = { kind: "none", payload: "x".repeat(16 * 1024 * 1024 - 2) };
    expect(await prepareJobs(kinds, [item, item])).toHaveLength(2);
    expect(await rejectionOf(prepareJobs(kinds, [item, item, { kind: "none", payload: null }]))).toMatchObject({
      code: "INVALID_OPTION",
      option: "items",
      index: 2,
    });
  });
});
