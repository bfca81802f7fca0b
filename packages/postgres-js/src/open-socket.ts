import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Where a server may be, as postgres.js has understood its options. */
export interface SocketTarget {
  readonly host: readonly string[];
  readonly port: readonly number[];
  /** A Unix socket, instead of host and port. */
  readonly path?: string | undefined | false;
}

/**
 * Connects to the first host that answers, beginning with the one at `first`. The socket knows its host, because postgres.js
 * takes the server's name for TLS from there.
 */
export async function openSocket({ host, port, path }: SocketTarget, { first = 0, signal }: { first?: number; signal: AbortSignal }) {
  if (path) return connected(connect({ path }), signal);
  const failures: unknown[] = [];
  for (let step = 0; step < host.length; step++) {
    const at = (first + step) % host.length;
    const address = { host: host[at] ?? "localhost", port: port[at] ?? port[0] ?? 5432 };
    try {
      return Object.assign(await connected(connect(address), signal), address);
    } catch (error) {
      failures.push(error);
      signal.throwIfAborted();
    }
  }
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, "None of the hosts could be reached.");
}

async function connected(socket: Socket, signal: AbortSignal): Promise<Socket> {
  try {
    await once(socket, "connect", { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
