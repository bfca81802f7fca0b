import { describe, expect, test } from "vitest";
import { thrownBy } from "../../test/support/thrown-by.js";
import { encodePayload, maxPayloadDepth, maxPayloadLength } from "./encode-payload.js";

/** `value` inside of so many arrays. */
function nested(depth: number, value: unknown = "x"): unknown {
  let result = value;
  for (let level = 0; level < depth; level++) result = [result];
  return result;
}

function pathOf(payload: unknown): unknown {
  const error = thrownBy(() => encodePayload(payload));
  expect(error).toMatchObject({ code: "INVALID_PAYLOAD", isRetryable: false });
  return (error as { path?: unknown }).path;
}

describe("what is a payload", () => {
  test.each([
    ["a string", "hello", '"hello"'],
    ["a string that looks like JSON", '{"a":1}', String.raw`"{\"a\":1}"`],
    ["an empty string", "", '""'],
    ["a number", 1.5, "1.5"],
    ["zero", 0, "0"],
    ["minus zero, which becomes zero", -0, "0"],
    ["the largest number", Number.MAX_VALUE, "1.7976931348623157e+308"],
    ["the smallest number", Number.MIN_VALUE, "5e-324"],
    ["true", true, "true"],
    ["false", false, "false"],
    ["null", null, "null"],
    ["undefined, as when it is left out: null", undefined, "null"],
    ["an array", [1, "a", [], null], '[1,"a",[],null]'],
    ["an empty array", [], "[]"],
    ["an object", { a: 1, b: { c: [{}] } }, '{"a":1,"b":{"c":[{}]}}'],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["an emoji", "\uD83E\uDD81", '"\uD83E\uDD81"'],
    ["control characters other than NUL", "\u0001\n\u007f\u2028", String.raw`"\u0001\n` + '\u007f\u2028"'],
  ])("%s", (_name, payload, text) => {
    expect(encodePayload(payload)).toBe(text);
  });

  test("B09: an undefined property is left out, a Date is its ISO text", () => {
    expect(encodePayload({ a: undefined, d: new Date(0), z: -0 })).toBe('{"d":"1970-01-01T00:00:00.000Z","z":0}');
  });

  test("keys like those of Object.prototype are keys like any other", () => {
    const payload = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toString":"x","hasOwnProperty":null}') as object;
    expect(encodePayload(payload)).toBe('{"__proto__":{"a":1},"constructor":2,"toString":"x","hasOwnProperty":null}');
  });

  test("an instance of a class is its own enumerable properties", () => {
    class Order {
      id = 1;
      #secret = 2;
      get total() {
        return this.#secret;
      }
      static {
        Object.defineProperty(this.prototype, "inherited", { value: 3, enumerable: true });
      }
    }
    const order = Object.defineProperty(new Order(), "hidden", { value: 4, enumerable: false });
    expect(encodePayload({ order, [Symbol("s")]: 5 })).toBe('{"order":{"id":1}}');
  });

  test("the same object in two places is no cycle", () => {
    const shared = { a: 1 };
    expect(encodePayload([shared, { shared }, shared])).toBe('[{"a":1},{"shared":{"a":1}},{"a":1}]');
  });

  test(`${maxPayloadDepth} levels are not too deep`, () => {
    expect(encodePayload(nested(maxPayloadDepth))).toBe(`${"[".repeat(maxPayloadDepth)}"x"${"]".repeat(maxPayloadDepth)}`);
  });
});

describe("what asks to be written in its own way", () => {
  test("toJSON is called once, with the key, and its result is written", () => {
    const keys: string[] = [];
    const own = {
      toJSON(key: string) {
        keys.push(key);
        return { written: keys.length };
      },
    };
    expect(encodePayload({ own, list: [own] })).toBe('{"own":{"written":1},"list":[{"written":2}]}');
    expect(encodePayload(own)).toBe('{"written":3}');
    expect(keys).toEqual(["own", "0", ""]);
  });

  test("what toJSON returns is checked like anything else", () => {
    expect(pathOf({ a: { toJSON: () => Number.NaN } })).toBe("$.a");
    expect(pathOf({ a: { toJSON: () => ({ b: [1n] }) } })).toBe("$.a.b[0]");
    expect(pathOf({ a: { toJSON: () => "x\u0000" } })).toBe("$.a");
    expect(encodePayload({ toJSON: "no function" })).toBe('{"toJSON":"no function"}');
  });

  test("a property whose toJSON returns undefined is left out, as JSON.stringify does", () => {
    expect(encodePayload({ a: { toJSON: () => undefined }, b: 1 })).toBe('{"b":1}');
    expect(encodePayload({ toJSON: () => undefined })).toBe("null");
    expect(pathOf([{ toJSON: () => undefined }])).toBe("$[0]");
  });

  test("a getter is read once: what is checked is what is stored", () => {
    let reads = 0;
    const payload = {
      get value() {
        reads += 1;
        return reads === 1 ? "good" : "bad\u0000";
      },
    };
    expect(encodePayload(payload)).toBe('{"value":"good"}');
    expect(reads).toBe(1);
  });

  test("a proxy is what it shows", () => {
    expect(encodePayload(new Proxy({ a: [1] }, {}))).toBe('{"a":[1]}');
    expect(encodePayload({ list: new Proxy([1, 2], {}) })).toBe('{"list":[1,2]}');
    expect(encodePayload(new Proxy({ a: 1 }, { get: (target, key) => (key === "a" ? 7 : Reflect.get(target, key)) }))).toBe('{"a":7}');
  });
});

describe("what is refused, with its path", () => {
  const cyclic: Record<string, unknown> = { list: [] };
  (cyclic["list"] as unknown[]).push({ parent: cyclic });
  const hole: unknown[] = [];
  hole.length = 1;
  const throwing = () => {
    throw new TypeError("broken");
  };
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  test.each<[name: string, payload: unknown, path: string]>([
    ["B01: NUL in a value", { a: "x\u0000y" }, "$.a"],
    ["B01: NUL in a key", { "x\u0000": 1 }, String.raw`$["x\u0000"]`],
    ["B01: NUL in an array", ["a", { b: ["\u0000"] }], "$[1].b[0]"],
    ["NUL at the top", "\u0000", "$"],
    ["B03: the first half of a surrogate pair", { s: "\uD83E" }, "$.s"],
    ["B03: the second half of a surrogate pair", { s: "\uDD81" }, "$.s"],
    ["B03: halves in the wrong order", { s: "a\uDD81\uD83Eb" }, "$.s"],
    ["half of a surrogate pair in a key", { a: { "\uD83E": 1 } }, String.raw`$.a["\ud83e"]`],
    ["B09: a Map", { m: new Map([[1, 2]]) }, "$.m"],
    ["B09: a Set", { s: new Set([1]) }, "$.s"],
    ["B09: NaN", { n: Number.NaN }, "$.n"],
    ["B09: Infinity", { i: Number.POSITIVE_INFINITY }, "$.i"],
    ["B09: minus Infinity", [Number.NEGATIVE_INFINITY], "$[0]"],
    ["B09: undefined in an array", { u: [undefined] }, "$.u[0]"],
    ["B09: a hole in an array", { u: hole }, "$.u[0]"],
    ["B09: a function", { f() {} }, "$.f"],
    ["B09: a symbol", { s: Symbol("s") }, "$.s"],
    ["a bigint", { items: [{ price: 2n }] }, "$.items[0].price"],
    ["an invalid Date", { d: new Date(Number.NaN) }, "$.d"],
    ["bytes", { b: new Uint8Array(2) }, "$.b"],
    ["a Buffer", { b: Buffer.from("a") }, "$.b"],
    ["a DataView", { b: new DataView(new ArrayBuffer(1)) }, "$.b"],
    ["an ArrayBuffer", { b: new ArrayBuffer(2) }, "$.b"],
    ["a Promise", { p: Promise.resolve(1) }, "$.p"],
    ["an Error", { e: new Error("x") }, "$.e"],
    ["a RegExp", { r: /x/ }, "$.r"],
    ["a WeakMap", { w: new WeakMap() }, "$.w"],
    ["a WeakSet", { w: new WeakSet() }, "$.w"],
    ["a boxed string", { s: Object("x") }, "$.s"],
    ["a boxed number", { n: Object(1) }, "$.n"],
    ["a boxed boolean", { b: Object(false) }, "$.b"],
    ["a boxed bigint", { b: Object(1n) }, "$.b"],
    ["a boxed symbol", { s: Object(Symbol("s")) }, "$.s"],
    ["a cycle", { deep: cyclic }, "$.deep.list[0].parent"],
    ["one level too many", { a: nested(maxPayloadDepth) }, `$.a${"[0]".repeat(maxPayloadDepth - 1)}`],
    ["a getter that throws", { a: Object.defineProperty({}, "b", { get: throwing, enumerable: true }) }, "$.a.b"],
    ["a toJSON that throws", { a: { toJSON: throwing } }, "$.a"],
    ["a getter of toJSON that throws", { a: Object.defineProperty({}, "toJSON", { get: throwing }) }, "$.a"],
    ["a proxy that throws on get", { a: new Proxy({ b: 1 }, { get: throwing }) }, "$.a"],
    ["a proxy that throws on ownKeys", { a: new Proxy({ b: 1 }, { ownKeys: throwing }) }, "$.a"],
    ["a proxy that throws on getPrototypeOf", { a: new Proxy({ b: 1 }, { getPrototypeOf: throwing }) }, "$.a"],
    ["a proxy of an array that throws on get", { a: new Proxy([1], { get: throwing }) }, "$.a"],
    ["a proxy that was revoked", { a: revoked.proxy }, "$.a"],
  ])("%s", (_name, payload, path) => {
    expect(pathOf(payload)).toBe(path);
  });

  test("names that are no identifiers are quoted in the path", () => {
    expect(pathOf({ "first name": { "0": { 'a"b': { $x: { é: Number.NaN } } } } })).toBe(
      String.raw`$["first name"]["0"]["a\"b"]["$x"]["é"]`,
    );
  });

  test("the message says where, what, why and what to do", () => {
    expect(thrownBy(() => encodePayload({ items: [{ price: 2n }] })).message).toBe(
      "The payload cannot be stored: $.items[0].price is a bigint, which JSON does not have: use a string.",
    );
    expect(thrownBy(() => encodePayload("a\u0000")).message).toContain("has a NUL character, which PostgreSQL's jsonb refuses");
    expect(thrownBy(() => encodePayload("a\uD800")).message).toContain("half of a surrogate pair");
    expect(thrownBy(() => encodePayload({ p: Promise.resolve() })).message).toContain("an await is missing");
  });

  test("what a getter or toJSON threw is the cause", () => {
    const reason = new Error("not today");
    const thrower = () => {
      throw reason;
    };
    expect(thrownBy(() => encodePayload({ a: { toJSON: thrower } })).cause).toBe(reason);
    expect(thrownBy(() => encodePayload(Object.defineProperty({}, "b", { get: thrower, enumerable: true }))).cause).toBe(reason);
  });

  test("a text longer than the limit", () => {
    const error = thrownBy(() => encodePayload("x".repeat(maxPayloadLength - 1)));
    expect(error).toMatchObject({ code: "INVALID_PAYLOAD", path: "$" });
    expect(error.message).toContain("store the data elsewhere and enqueue its id");
    expect(encodePayload("x".repeat(maxPayloadLength - 2))).toHaveLength(maxPayloadLength);
  });
});
