import { connect, createServer, type Server, type Socket } from "node:net";

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more, and neither side is told. */
  isSilent: boolean;
}

/** How long after the network is back each side finds out that its flow was dropped: the server by keep-alive, the client by retransmission. */
const serverFindsOutMs = 2_000;
const clientFindsOutMs = 10_000;

/** A TCP proxy before the server that can stop to forward without closing (half open), or refuse. */
export class FaultProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
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
    for (const pair of this.#pairs) silence(pair);
  }

  /** Cuts every connection, and takes no new one. */
  refuse(): void {
    this.#mode = "refuse";
    this.#cut();
  }

  /** New connections pass. Those that were half open stay silent, as behind a firewall that forgot them, until TCP gives them up. */
  recover(): void {
    this.#mode = "forward";
    const silent = [...this.#pairs].filter(({ isSilent }) => isSilent);
    for (const { server, client } of silent) {
      setTimeout(() => server.destroy(), serverFindsOutMs).unref();
      setTimeout(() => client.destroy(), clientFindsOutMs).unref();
    }
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
    const pair: Pair = { client, server, isSilent: false };
    this.#pairs.add(pair);
    server.on("error", () => {});
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on("data", (chunk) => void to.write(chunk));
      from.on("close", () => {
        if (!pair.isSilent) to.destroy();
        if (client.destroyed && server.destroyed) this.#pairs.delete(pair);
      });
    }
    if (this.#mode === "half-open") silence(pair);
  }

  #cut(): void {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }
}

function silence(pair: Pair): void {
  pair.isSilent = true;
  pair.client.pause();
  pair.server.pause();
}
