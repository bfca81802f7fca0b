import { expect, test } from "vitest";
import { QueueError } from "@queue/core";
import type { ListenerEvents } from "@queue/core/adapter";
import { pgListener } from "@queue/pg";

const unheard: ListenerEvents = { onListening() {}, onNotification() {}, onError() {} };

test("options that pg refuses are refused, instead of being tried for ever", async () => {
  const listener = pgListener({ connectionString: "postgres://localhost:port/db" });
  await expect(listener.listen("bad", unheard)).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
  expect(() => pgListener({ keepAlive: "ten seconds" as never })).toThrow(/keepAlive/);
  expect(() => pgListener("postgres://localhost" as never)).toThrow(/connectionString/);
});
