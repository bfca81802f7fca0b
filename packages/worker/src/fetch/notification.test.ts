import { describe, expect, test } from "vitest";
import { parseNotification } from "./notification.js";

describe("parseNotification", () => {
  test.each([
    ["5 mail", { lane: "mail", priority: 5, isLater: false }],
    ["~0 mail", { lane: "mail", priority: 0, isLater: true }],
    ["9 a lane with spaces", { lane: "a lane with spaces", priority: 9, isLater: false }],
    ["5 ~5 mail", { lane: "~5 mail", priority: 5, isLater: false }],
    ["5 cancel 1", { lane: "cancel 1", priority: 5, isLater: false }],
    ["~5 \u{1F4EC}\nsecond line", { lane: "\u{1F4EC}\nsecond line", priority: 5, isLater: true }],
    ["5  ", { lane: " ", priority: 5, isLater: false }],
  ])("reads the line of %j", (payload, line) => {
    expect(parseNotification(payload)).toEqual({ type: "line", since: undefined, ...line });
  });

  test("reads since when the job is due", () => {
    const line = { type: "line", priority: 5, isLater: false, since: 1_767_225_600_000_000 };
    expect(parseNotification("5@1767225600 mail")).toEqual({ ...line, lane: "mail" });
    expect(parseNotification("5@0 mail")).toEqual({ ...line, lane: "mail", since: 0 });
    expect(parseNotification("5@-315619200 mail")).toEqual({ ...line, lane: "mail", since: -315_619_200_000_000 });
    expect(parseNotification("5@1767225600 5@1 mail")).toEqual({ ...line, lane: "5@1 mail" });
  });

  test("reads who tries whether it hears itself", () => {
    expect(parseNotification("ping host:1:abc")).toEqual({ type: "ping", worker: "host:1:abc" });
  });

  test("reads which job was cancelled", () => {
    expect(parseNotification("cancel 9223372036854775807")).toEqual({ type: "cancel", id: "9223372036854775807" });
  });

  test.each([
    "*",
    "",
    "5",
    "5 ",
    "12 mail",
    "~ mail",
    "mail",
    "cancel",
    "cancel x",
    "cancel 1 2",
    "-1 mail",
    "5@ mail",
    "5@x mail",
    "5@1e9 mail",
    "constructor",
    "5 \u0000",
    "5 \ud800mail",
  ])("takes what it does not understand for a reason to look everywhere: %j", (payload) => {
    expect(parseNotification(payload)).toEqual({ type: "any" });
  });
});
