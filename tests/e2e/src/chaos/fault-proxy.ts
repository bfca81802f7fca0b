import { connect, createServer, type Server, type Socket } from "node:net";

/** A TCP proxy before the server that can stop to forward without closing (half open), or refuse. */
export class FaultProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #mode: "forward" | "half-open" | "refuse" = "forward";

  private constructor(server: Server) {
    this.#server = server;
  }

  static async before(url: string): Promise<{ readonly proxy: FaultProxy; readonly url: string }> {
    const target = new URL(url);
    const serverPort = Number(target.port);
    const server = createServer();
    const proxy = new FaultProxy(server);
    server.on("connection", (client) => proxy.#connect(client, serverPort));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The proxy has no port.");
    target.port = String(address.port);
    return { proxy, url: target.href };
  }

  /** From now on nothing passes, in neither direction, and no socket is closed. */
  goHalfOpen(): void {
    this.#mode = "half-open";
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** Cuts every connection, and takes no new one. */
  refuse(): void {
    this.#mode = "refuse";
    this.#cut();
  }

  /** Connections that were half open stay dead, as behind a firewall that forgot them; new ones pass. */
  recover(): void {
    this.#mode = "forward";
  }

  async close(): Promise<void> {
    this.#cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #connect(client: Socket, port: number): void {
    client.on("error", () => {});
    if (this.#mode === "refuse") {
      client.destroy();
      return;
    }
    const server = connect(port, "127.0.0.1");
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    server.on("error", () => client.destroy());
    for (const [from, to] of [pair, [server, client] as const]) {
      from.on("data", (chunk) => {
        if (this.#mode !== "half-open") to.write(chunk);
      });
      from.on("close", () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    if (this.#mode === "half-open") for (const socket of pair) socket.pause();
  }

  #cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }
}
