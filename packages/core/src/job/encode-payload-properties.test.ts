import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { QueueError } from "../errors/queue-error.js";
import { encodePayload } from "./encode-payload.js";

const text = fc.string({ unit: "binary" }).map((any) => any.replaceAll("\u0000", ""));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    text,
    fc.array(tie("value")),
    fc.dictionary(fc.oneof(text, fc.constantFrom("__proto__", "constructor", "toString", "length")), tie("value"), {
      noNullPrototype: false,
    }),
  ),
})).value;

const anything = fc.anything({
  key: fc.string({ unit: "binary" }),
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
});

describe("encodePayload", () => {
  test("everything that JSON has comes back from JSON.parse as it was", () => {
    fc.assert(
      fc.property(json, (payload) => {
        const encoded = encodePayload(payload);
        // The text that JSON.stringify makes, so that JSON.parse gives the same; -0 is 0 in both.
        expect(encoded).toBe(JSON.stringify(payload));
        expect(JSON.parse(encoded)).toEqual(JSON.parse(JSON.stringify(payload)));
      }),
      { numRuns: 2_000 },
    );
  });

  test("anything else is stored as JSON.stringify does, or refused with a path, and never ends in another error", () => {
    let refused = 0;
    let stored = 0;
    fc.assert(
      fc.property(anything, (payload) => {
        let encoded: string;
        try {
          encoded = encodePayload(payload);
        } catch (error) {
          expect(QueueError.is(error, "INVALID_PAYLOAD") && error.path.startsWith("$")).toBe(true);
          refused += 1;
          return;
        }
        expect(encoded).toBe(JSON.stringify(payload) ?? "null");
        stored += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(refused, stored)).toBeGreaterThan(100);
  });
});
