import pg from "pg";
import type { Listener, ListenerEvents } from "@queue/core/adapter";

/** The listener port over one `pg.Client` that is not made again when it is lost: @queue/pg, which does, imports this package. */
export interface ClientListener extends Listener {
  /** Notifications heard so far, in all subscriptions, but for those by which workers try whether they hear. */
  readonly heard: readonly string[];
  /** The backend of the last subscription. */
  readonly pid: number;
}

export function clientListener(url: string): ClientListener {
  const heard: string[] = [];
  let pid = Number.NaN;
  return {
    adapter: "test",
    heard,
    get pid() {
      return pid;
    },
    async listen(channel: string, events: ListenerEvents) {
      const client = new pg.Client({ connectionString: url, application_name: "test listener" });
      let isUp = true;
      client.on("notification", ({ payload = "" }) => {
        if (!payload.startsWith("ping ")) heard.push(payload);
        events.onNotification(payload);
      });
      client.on("error", (error) => {
        isUp = false;
        events.onError(error);
      });
      client.on("end", () => (isUp = false));
      await client.connect();
      await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      const backend = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
      pid = backend.rows[0]?.pid ?? Number.NaN;
      events.onListening();
      let last: Promise<unknown> = Promise.resolve();
      const executor = {
        adapter: "test",
        // One after the other: node-postgres is about to refuse to queue them.
        execute<R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }): Promise<{ rows: R[] }> {
          const result = last.then(() => client.query(sql, [...parameters])).then(({ rows }) => ({ rows: rows as R[] }));
          last = result.catch(() => {});
          return result;
        },
      };
      return {
        get executor() {
          return isUp ? executor : undefined;
        },
        close: async () => {
          isUp = false;
          await client.end();
        },
      };
    },
  };
}
