import { neonConfig } from "@neondatabase/serverless";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { QueueError } from "@queue/core";
import type { ListenerEvents } from "@queue/core/adapter";
import { neonListener } from "@queue/neon";
import { useTestDatabase } from "@queue/test-database";
import { openWebSocketProxy, type WebSocketProxy } from "./websocket-proxy.js";

const unheard: ListenerEvents = { onListening() {}, onNotification() {}, onError() {} };

const database = useTestDatabase({ template: "empty" });
let webSocketProxy: WebSocketProxy;
beforeAll(async () => {
  webSocketProxy = await openWebSocketProxy();
  return () => webSocketProxy[Symbol.asyncDispose]();
});

test("options that the driver refuses are refused, instead of being tried for ever", async () => {
  const listener = neonListener({ connectionString: "postgres://localhost:port/db" });
  await expect(listener.listen("bad", unheard)).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
  expect(() => neonListener({ keepAlive: "ten seconds" as never })).toThrow(/keepAlive/);
  expect(() => neonListener("postgres://localhost" as never)).toThrow(/connectionString/);
});

describe("a half-open WebSocket", () => {
  test("is not waited for by close()", async () => {
    const opened = recordWebSockets();
    const subscription = await neonListener({ connectionString: database.url }).listen("half-open-websocket", unheard);
    onTestFinished(() => subscription.close());
    expect(opened.map(({ readyState }) => readyState)).toEqual([WebSocket.OPEN]);
    webSocketProxy.stall();
    await subscription.close();
    await expect.poll(() => opened.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED]);
  });
});

/** The WebSockets that the driver opens, until the test ends. */
function recordWebSockets(): WebSocket[] {
  const opened: WebSocket[] = [];
  const { webSocketConstructor } = neonConfig;
  onTestFinished(() => void Object.assign(neonConfig, { webSocketConstructor }));
  neonConfig.webSocketConstructor = class extends WebSocket {
    constructor(url: string) {
      super(url);
      opened.push(this);
    }
  };
  return opened;
}
