import { createWorkerStatements, notificationChannel } from "@queue/core/internal";
import pg from "pg";

/** Hears what a worker of `schema` would hear, and has armed the bell for all lanes, some, or (null) none. */
export interface TestListener extends AsyncDisposable {
  /** All that has been sent since the last call, in order. */
  heard(): Promise<string[]>;
}

const marker = "everything before this was sent";

export async function listenTo(url: string, schema = "queue", lanes: readonly string[] | null = []): Promise<TestListener> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const channel = notificationChannel(schema);
  let payloads: string[] = [];
  let onMarker = () => {};
  client.on("notification", ({ payload = "" }) => {
    if (payload === marker) onMarker();
    else payloads.push(payload);
  });
  await client.query(`listen ${channel}`);
  const { armBell } = createWorkerStatements(schema);
  if (lanes !== null) await client.query(armBell.sql, [...armBell.bind({ lanes: `{${lanes.join(",")}}` })]);
  return {
    async heard() {
      // Notifications come in the order of the commits, so what was committed before has come before the marker.
      const reached = new Promise<void>((resolve) => {
        onMarker = resolve;
      });
      await client.query("select pg_notify($1, $2)", [channel, marker]);
      await reached;
      const all = payloads;
      payloads = [];
      return all;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
