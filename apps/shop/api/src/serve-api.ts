import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";

export interface ServeOptions {
  /** @default 0, any free one */
  readonly port?: number | undefined;
  /** How long `close` waits for requests that are being answered. @default 5000 */
  readonly graceMs?: number | undefined;
}

export interface ServedApi {
  readonly url: string;
  /** Takes no more requests, answers those it has, and resolves when the last connection is closed. */
  close(): Promise<void>;
}

/** Serves `app` on the loopback interface. @throws when the port is taken */
export async function serveApi(app: Hono, { port = 0, graceMs = 5_000 }: ServeOptions = {}): Promise<ServedApi> {
  const answer = getRequestListener(app.fetch);
  // It answers with 500 what it cannot answer, and never rejects.
  const server = createServer((request, response) => void answer(request, response));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      if (!server.listening) return;
      // A browser keeps its connection open between two requests; it is closed as soon as it is idle.
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const late = setTimeout(() => server.closeAllConnections(), graceMs);
      server.close();
      await once(server, "close");
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}
