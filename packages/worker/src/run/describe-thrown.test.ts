import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { describeThrown } from "./describe-thrown.js";

// oxlint-disable-next-line no-control-regex -- the control character is the point
const storable = /^[^\u0000\p{Surrogate}]*$/u;

describe("describeThrown of an error", () => {
  test("keeps name, message and stack, and its causes by their messages", () => {
    const error = new RangeError("outer", { cause: new TypeError("inner", { cause: "root" }) });
    const { name, message, stack } = describeThrown(error);
    expect([name, message]).toEqual(["RangeError", "outer"]);
    expect(stack).toContain("describe-thrown.test.ts");
    expect(stack?.endsWith("\nCaused by: TypeError: inner\nCaused by: root")).toBe(true);
  });

  test("B52: ends where causes come back to what was there before", () => {
    const [a, b] = [new Error("a"), new Error("b")];
    a.cause = b;
    b.cause = a;
    expect(describeThrown(a).stack?.match(/Caused by/g)).toHaveLength(1);
    a.cause = a;
    expect(describeThrown(a).stack).not.toContain("Caused by");
  });

  test("follows a few causes, and not a thousand", () => {
    let error = new Error("root");
    for (let n = 0; n < 1_000; n++) error = new Error(`level ${n}`, { cause: error });
    expect(describeThrown(error).stack?.match(/Caused by/g)).toHaveLength(4);
  });

  test("has its name for a message when it has none", () => {
    expect(describeThrown(new SyntaxError())).toMatchObject({ name: "SyntaxError", message: "SyntaxError" });
    expect(describeThrown(Object.assign(new Error(""), { name: "" }))).toMatchObject({ name: "Error", message: "Error" });
  });

  test("stores none of its properties", () => {
    const error = Object.assign(new Error("upstream 502"), { config: { headers: { authorization: "Bearer secret" } } });
    expect(JSON.stringify(describeThrown(error))).not.toContain("secret");
  });

  test.each(["name", "message", "stack", "cause"])("keeps the rest when its %s throws", (property) => {
    const error = Object.defineProperty(new TypeError("kept", { cause: "why" }), property, {
      get() {
        throw new Error("no");
      },
    });
    const described = describeThrown(error);
    expect(described.name).toBe(property === "name" ? "Error" : "TypeError");
    expect(described.message).toBe(property === "message" ? "TypeError" : "kept");
    if (property !== "cause") expect(described.stack).toContain("Caused by: why");
  });

  test.each([
    ["a number", 42],
    ["an object", { toString: () => "shown" }],
    ["a symbol", Symbol("shown")],
    ["null", null],
  ])("takes name, message and stack that are %s", (_type, value) => {
    for (const property of ["name", "message", "stack"]) {
      const { name, message, stack } = describeThrown(Object.assign(new Error("m"), { [property]: value }));
      for (const text of [name, message, stack ?? ""]) expect(typeof text).toBe("string");
      expect(message).not.toBe("");
    }
  });

  test("takes causes that are no errors", () => {
    const texts = [0, false, null, { code: "X" }, Symbol("s"), Object.create(null)].map(
      (cause) => describeThrown(new Error("m", { cause })).stack,
    );
    for (const text of texts) expect(text).toContain("Caused by: Non-error thrown:");
    expect(texts[3]).toContain("X");
  });
});

describe("B51: describeThrown of anything else", () => {
  test.each([
    ["boom", "boom"],
    ["", 'Non-error thrown: ""'],
    [undefined, "Non-error thrown: undefined"],
    [null, "Non-error thrown: null"],
    [0, "Non-error thrown: 0"],
    [-0, "Non-error thrown: 0"],
    [10n, "Non-error thrown: 10"],
    [Symbol("s"), "Non-error thrown: Symbol(s)"],
    [{ code: "X" }, "Non-error thrown: { code: 'X' }"],
    [Object.create(null), "Non-error thrown: [Object: null prototype] {}"],
  ])("says what it was: %s", (thrown, message) => {
    expect(describeThrown(thrown)).toEqual({ name: "NonError", message });
  });

  test("shows an object no deeper than a level, so that it tells no secrets that hang on it", () => {
    expect(describeThrown({ status: 502, config: { headers: { authorization: "Bearer secret" } } }).message).not.toContain("secret");
  });

  test("does not fail on what refuses to be looked at", () => {
    const refuse = () => {
      throw new Error("no");
    };
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = [
      new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse, getOwnPropertyDescriptor: refuse }),
      proxy,
      { [Symbol.for("nodejs.util.inspect.custom")]: refuse },
      Object.defineProperty({}, Symbol.toStringTag, { get: refuse }),
      Object.assign(() => {}, { toString: refuse }),
    ];
    for (const thrown of hostile) expect(describeThrown(thrown).message).toMatch(/^Non-error thrown: ./);
  });
});

describe("B02: what PostgreSQL refuses", () => {
  test("becomes U+FFFD, and nothing else changes", () => {
    expect(describeThrown("bad \u0000 byte").message).toBe("bad \uFFFD byte");
    expect(describeThrown("half \uD83D and whole \u{1F600}").message).toBe("half \uFFFD and whole \u{1F600}");
    expect(describeThrown("tab\tand\nline\u0001").message).toBe("tab\tand\nline\u0001");
  });

  test("is not made by cutting a character in two", () => {
    for (let shift = 0; shift < 8; shift++) {
      const { message } = describeThrown("x".repeat(shift) + "\u{1F600}".repeat(3_000));
      expect(message).toMatch(/^x*\u{1F600}+$/u);
    }
  });

  test("is nowhere in what is stored, which is never empty and fits into 8 KiB, whatever was thrown", () => {
    const text = fc.string({
      unit: fc.oneof(fc.constantFrom("\u0000", "\uD800", "\uDC00", "\u{1F600}", "ß", "€", '"', "\\", "\n"), fc.string()),
      maxLength: 40,
    });
    const long = fc.tuple(text, fc.integer({ min: 0, max: 3_000 })).map(([unit, times]) => unit.repeat(times).slice(0, 30_000));
    const errors = fc
      .tuple(long, long, long, fc.anything())
      .map(([name, message, stack, cause]) => Object.assign(new Error(message, { cause }), { name, stack }));
    fc.assert(
      fc.property(fc.oneof(fc.anything(), text, long, errors), (thrown) => {
        const { name, message, stack = "" } = describeThrown(thrown);
        for (const part of [name, message, stack]) expect(part).toMatch(storable);
        expect(name).not.toBe("");
        expect(message).not.toBe("");
        expect(Buffer.byteLength(name) + Buffer.byteLength(message) + Buffer.byteLength(stack)).toBeLessThanOrEqual(8_192);
      }),
      { numRuns: 300 },
    );
  });
});
