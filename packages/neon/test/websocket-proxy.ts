import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { neonConfig } from "@neondatabase/serverless";
import { WebSocket, WebSocketServer } from "ws";

/** What stands before the database at Neon: it passes on between a WebSocket and a connection of PostgreSQL. */
export interface WebSocketProxy extends AsyncDisposable {
  /** Reads nothing more from the WebSockets there are, not even their goodbyes, and keeps them open. */
  stall(): void;
}

/** Opens one, and tells the driver to go through it, whatever the host. */
export async function openWebSocketProxy(): Promise<WebSocketProxy> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  server.on("connection", (client, request) => {
    const target = new URL(`tcp://${new URL(request.url ?? "", "ws://proxy").searchParams.get("address")}`);
    const socket = connect(Number(target.port), target.hostname);
    socket.on("data", (data) => client.send(data));
    socket.on("close", () => client.close());
    socket.on("error", () => client.terminate());
    client.on("message", (data: Buffer) => socket.write(data));
    client.on("close", () => socket.destroy());
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  neonConfig.webSocketConstructor = WebSocket;
  neonConfig.wsProxy = (host, targetPort) => `127.0.0.1:${port}/v1?address=${host}:${targetPort}`;
  neonConfig.useSecureWebSocket = false;
  neonConfig.pipelineTLS = false;
  neonConfig.pipelineConnect = false;
  return {
    stall: () => server.clients.forEach((client) => client.pause()),
    async [Symbol.asyncDispose]() {
      for (const client of server.clients) client.terminate();
      server.close();
      await once(server, "close");
    },
  };
}
