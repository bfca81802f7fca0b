import type { Client } from "@neondatabase/serverless";
import type { ExecutableQuery, ListeningConnection, ListeningConnectionEvents } from "@queue/core/adapter";

/** The connection of a listener, made of a client that is not connected yet. */
export function openNeonConnection(client: Client, { onLoss, onNotification }: ListeningConnectionEvents): ListeningConnection {
  // Never taken off: without a listener an error that comes late would end the process.
  client.on("error", (event: unknown) => onLoss(errorOf(event)));
  client.on("end", () => onLoss(new Error("The server closed the connection.")));
  client.on("notification", ({ payload }: { readonly payload?: string | undefined }) => onNotification(payload ?? ""));
  return {
    connect: () => client.connect().catch((event: unknown) => Promise.reject(errorOf(event) as Error)),
    async run<R>({ sql, parameters }: ExecutableQuery) {
      const { rows } = await client.query<R & Record<string, unknown>>({ text: sql, values: [...parameters] });
      return { rows };
    },
    sayGoodbye: () => client.end(),
    cutOff: () => cutOff(client),
  };
}

/** Not only `destroy()`: that asks the other side to close the WebSocket, and waits half a minute for an answer. */
function cutOff(client: Client): void {
  const stream = client.connection.stream as unknown as { destroy(): void; ws?: { terminate?: () => void } | undefined };
  stream.destroy();
  stream.ws?.terminate?.();
}

/** What a WebSocket reports is an event, which has the error or at least its message. */
function errorOf(event: unknown): unknown {
  if (event instanceof Error || typeof event !== "object" || event === null) return event;
  if ("error" in event && event.error instanceof Error) return event.error;
  return new Error("message" in event && typeof event.message === "string" ? event.message : "The WebSocket failed.", { cause: event });
}
