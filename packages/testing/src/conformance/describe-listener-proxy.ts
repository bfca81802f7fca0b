import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** What becomes of a connection: passed on; hung up on; or kept open without ever passing anything on, like a forgotten flow. */
export type Treatment = "forward" | "refuse" | "silence";

/** A TCP proxy before a server, to do to a connection what networks do. */
export interface StallingProxy extends AsyncDisposable {
  /** The server's URL, through the proxy. */
  readonly url: string;
  /** How new connections are treated. */
  treatment: Treatment;
  /** Falls silent on the connections there are, and keeps their sockets open. */
  stall(): void;
  /** Resolves when `count` connections have been made in all. */
  untilConnections(count: number): Promise<void>;
}

export async function openStallingProxy(url: string): Promise<StallingProxy> {
  const target = new URL(url);
  const flows = new Set<Flow>();
  let connections = 0;
  // Half-open, because a flow that is forgotten does not answer a goodbye either.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections += 1;
    server.emit("counted");
    if (proxy.treatment === "refuse") socket.destroy();
    else flows.add(openFlow(socket, target, proxy.treatment === "silence"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const proxy: StallingProxy = {
    url: withAddress(target, server.address() as AddressInfo),
    treatment: "forward",
    stall: () => flows.forEach((flow) => (flow.isSilent = true)),
    async untilConnections(count) {
      while (connections < count) await once(server, "counted");
    },
    async [Symbol.asyncDispose]() {
      for (const { near, far } of flows) [near, far].forEach((socket) => socket.destroy());
      server.close();
      await once(server, "close");
    },
  };
  return proxy;
}

function withAddress(target: URL, { address, port }: AddressInfo): string {
  const url = new URL(target);
  url.hostname = address;
  url.port = String(port);
  return url.href;
}

interface Flow {
  isSilent: boolean;
  readonly near: Socket;
  readonly far: Socket;
}

function openFlow(near: Socket, target: URL, isSilent: boolean): Flow {
  const flow = { isSilent, near, far: connect(Number(target.port || 5432), target.hostname) };
  pass(flow, near, flow.far);
  pass(flow, flow.far, near);
  return flow;
}

function pass(flow: Flow, from: Socket, to: Socket): void {
  from.on("data", (data) => flow.isSilent || to.write(data));
  from.on("end", () => flow.isSilent || to.end());
  from.on("close", () => flow.isSilent || to.destroy());
  from.on("error", () => from.destroy());
}
