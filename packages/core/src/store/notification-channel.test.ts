import { expect, test } from "vitest";
import { notificationChannel } from "./notification-channel.js";

test("B89: a channel is short, needs no quoting, and is another one for every schema", () => {
  const long = "q".repeat(62);
  const names = ["queue", "Queue", "MyQueue", "queue-1", "\u03b1".repeat(31), `${long}a`, `${long}b`, 'a"b', "o'brien", "a\nb"];
  const channels = names.map(notificationChannel);
  for (const channel of channels) expect(channel).toMatch(/^queue_[0-9a-f]{32}$/);
  expect(new Set(channels).size).toBe(names.length);
});

test("a channel is the same in every release: workers of two versions listen on it", () => {
  expect(notificationChannel("queue")).toBe("queue_00b109cf1123a591253cc534b17e5268");
});
