import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { until } from "./until.js";

/** A TCP proxy before the server, to hold back what one side says. */
export interface TcpProxy {
  /** The connection string, through the proxy. */
  readonly url: string;
  /** Keeps what the server answers on a connection, from the answer on that has the text, until `letAnswersThrough`. */
  holdAnswersFrom(text: string): void;
  /** Resolves when an answer is held. */
  untilHeld(): Promise<void>;
  letAnswersThrough(): void;
  /** Cuts all connections. */
  cut(): void;
  close(): Promise<void>;
}

interface Flow {
  readonly near: Socket;
  readonly far: Socket;
  readonly held: Buffer[];
}

export async function openTcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url);
  const flows = new Set<Flow>();
  let heldFrom: string | undefined;

  const server = createServer((near) => {
    const flow: Flow = { near, far: connect(Number(target.port), target.hostname), held: [] };
    flows.add(flow);
    near.on("data", (data) => flow.far.write(data));
    flow.far.on("data", (data) => {
      if (flow.held.length > 0 || (heldFrom !== undefined && data.includes(heldFrom))) flow.held.push(data);
      else near.write(data);
    });
    for (const [socket, other] of [
      [near, flow.far],
      [flow.far, near],
    ] as const) {
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        other.destroy();
        flows.delete(flow);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const own = new URL(url);
  own.port = String((server.address() as AddressInfo).port);

  return {
    url: own.href,
    holdAnswersFrom(text) {
      heldFrom = text;
    },
    untilHeld: () => until(() => [...flows].some(({ held }) => held.length > 0), "an answer of the server"),
    letAnswersThrough() {
      heldFrom = undefined;
      for (const { near, held } of flows) for (const data of held.splice(0)) near.write(data);
    },
    cut() {
      for (const { near, far } of flows) for (const socket of [near, far]) socket.destroy();
    },
    async close() {
      for (const { near, far } of flows) for (const socket of [near, far]) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
