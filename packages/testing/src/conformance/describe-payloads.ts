import { describe, expect, test } from "vitest";
import type { JsonValue } from "@queue/core";
import type { Suite } from "./suite.js";

const deep = (levels: number): JsonValue => (levels === 0 ? "bottom" : { below: [deep(levels - 1)] });

/** What drivers, ORMs and plugins are known to change on the way. */
const kept: readonly JsonValue[] = [
  [1, 2, 3],
  [],
  [{ a: 1 }],
  [[1], [2]],
  [null],
  "hello",
  "",
  '{"a":1}',
  "[1,2]",
  "null",
  0,
  false,
  true,
  null,
  {},
  Number.MAX_SAFE_INTEGER,
  0.1,
  1e300,
  { s: "[1,2]", t: '{"a":1}', u: "[draft] hello" },
  { user_id: 1, a_b: { c_d: [{ e_f: 1 }] }, _x: 3, "First Name": 2 },
  "ü 漢字 🎉 \u2028 \ufeff \u007f",
  { ключ: { "🔑": "значение" } },
  `$1 $2 ? ?? :name %s \\ ' " {} ; -- /* */`,
  { "": "", "a.b": 1, "a\nb": "\t\r\n\b\f\\" },
  JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue,
  deep(100),
  "x".repeat(100_000),
];

/** JSON has no other way to say it. */
const changed: readonly (readonly [given: unknown, arrives: JsonValue])[] = [
  [undefined, null],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [{ at: new Date(0), gone: undefined }, { at: "1970-01-01T00:00:00.000Z" }],
];

const refused: readonly (readonly [payload: unknown, path: string])[] = [
  ["a\0b", "$"],
  [{ a: { b: ["x", "\0"] } }, "$.a.b[1]"],
  [{ s: "\ud800" }, "$.s"],
  [{ n: Number.NaN }, "$.n"],
  [{ i: Infinity }, "$.i"],
  [{ m: new Map([[1, 2]]) }, "$.m"],
  [{ s: new Set([1]) }, "$.s"],
  [{ u: [undefined] }, "$.u[0]"],
  [{ b: 1n }, "$.b"],
  [{ f() {} }, "$.f"],
];

export function describePayloads(suite: Suite): void {
  describe("a payload", () => {
    test("arrives as it was given: through the database, through a transaction, alone and in a batch", async () => {
      const expected = new Map<string, JsonValue>();
      const payloads = [
        ...kept.map((payload) => [payload, payload] as const),
        ...(changed as readonly (readonly [JsonValue, JsonValue])[]),
      ];
      for (const [given, arrives] of payloads) expected.set((await suite.queue.enqueue(suite.db, "note", given)).id, arrives);
      await suite.committed(async (executor) => {
        for (const [given, arrives] of payloads)
          expected.set((await suite.queue.enqueue(executor, "note", given, { key: `${expected.size}` })).id, arrives);
        const batch = await suite.queue.enqueueMany(
          executor,
          payloads.map(([payload]) => ({ kind: "note", payload })),
        );
        for (const [index, { id }] of batch.entries()) expected.set(id, payloads[index]?.[1] ?? null);
      });
      expect(expected.size).toBe(payloads.length * 3);

      for (const [id, payload] of expected) expect((await suite.admin.job(id))?.payload).toStrictEqual(payload);
      const arrived = new Map<string, JsonValue>();
      await suite.worker({ handlers: { note: ({ id, payload }) => void arrived.set(id, payload) } }).runUntilIdle();
      expect(arrived.size).toBe(expected.size);
      for (const [id, payload] of expected) expect(arrived.get(id)).toStrictEqual(payload);
    });

    test("that JSON or jsonb cannot hold is refused with its path", async () => {
      for (const [payload, path] of refused) {
        await expect(suite.queue.enqueue(suite.db, "note", payload as JsonValue)).rejects.toMatchObject({ code: "INVALID_PAYLOAD", path });
      }
      expect((await suite.admin.jobs()).items).toEqual([]);
    });
  });
}
