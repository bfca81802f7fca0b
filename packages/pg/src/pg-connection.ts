import type { Client, QueryResultRow } from "pg";
import type { ExecutableQuery, ListeningConnection, ListeningConnectionEvents } from "@queue/core/adapter";

/** The connection of a listener, made of a client that is not connected yet. */
export function openPgConnection(client: Client, { onLoss, onNotification }: ListeningConnectionEvents): ListeningConnection {
  // Never taken off: without a listener an error that comes late would end the process.
  client.on("error", onLoss);
  client.on("end", () => onLoss(new Error("The server closed the connection.")));
  client.on("notification", ({ payload }) => onNotification(payload ?? ""));
  return {
    connect: () => client.connect(),
    async run<R>({ sql, parameters }: ExecutableQuery) {
      const { rows } = await client.query<R & QueryResultRow>({ text: sql, values: [...parameters] });
      return { rows };
    },
    sayGoodbye: () => client.end(),
    cutOff: () => void client.connection.stream.destroy(),
  };
}
