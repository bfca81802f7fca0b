import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteBody, quoteIdentifier, quoteLiteral } from "./quote.js";

describe("quoting", () => {
  test.each([
    ["queue", '"queue"', "'queue'"],
    ['a"b', '"a""b"', "'a\"b'"],
    ["o'brien", '"o\'brien"', "'o''brien'"],
    ["a\\b", '"a\\b"', " E'a\\\\b'"],
    ["\\'", '"\\\'"', " E'\\\\'''"],
  ])("%s as an identifier and as a string", (text, identifier, literal) => {
    expect(quoteIdentifier(text)).toBe(identifier);
    expect(quoteLiteral(text)).toBe(literal);
  });

  test("a body is quoted with a tag that it does not hold", () => {
    expect(quoteBody("select 1")).toBe("$body$select 1$body$");
    expect(quoteBody("a $body$ b $body1$ c")).toBe("$body2$a $body$ b $body1$ c$body2$");
    fc.assert(
      fc.property(fc.array(fc.constantFrom("$", "body", "1", "2", "$body$", "$body1$", "x")), (parts) => {
        const body = parts.join("");
        const quoted = quoteBody(body);
        const tag = /^\$\w*\$/.exec(quoted)?.[0] ?? "";
        expect(quoted.slice(tag.length, -tag.length)).toBe(body);
        // The server ends the string at the first occurrence of the tag.
        expect(quoted.indexOf(tag, tag.length)).toBe(quoted.length - tag.length);
      }),
    );
  });
});
