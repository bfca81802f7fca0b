import type { Executor } from "@queue/core";
import pg from "pg";

/** A connection of its own, for tests of what two transactions do to each other. */
export interface Session extends AsyncDisposable {
  readonly pid: number;
  readonly executor: Executor;
  query<R extends pg.QueryResultRow>(sql: string, parameters?: unknown[]): Promise<R[]>;
}

/** @param settings set on the connection, as `search_path` or `role` are */
export async function openSession(url: string, settings: Readonly<Record<string, string>> = {}): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  // When a test has it ended, its statements reject, which is enough.
  client.on("error", () => {});
  await client.connect();
  for (const [name, value] of Object.entries(settings)) await client.query("select set_config($1, $2, false)", [name, value]);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    pid: rows[0]?.pid ?? 0,
    executor: executorOn(client),
    query: async <R extends pg.QueryResultRow>(sql: string, parameters: unknown[] = []) => (await client.query<R>(sql, parameters)).rows,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** What an adapter of pg makes of a client; `sent` gets every statement. */
export function executorOn(client: pg.ClientBase | pg.Pool, sent: string[] = []): Executor {
  return {
    adapter: "pg",
    scope: client,
    async execute<R>({ sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] }) {
      sent.push(sql);
      const { rows } = await client.query(sql, [...parameters]);
      return { rows: rows as R[] };
    },
  };
}

/**
 * Resolves when `session` waits for a lock that another one holds, or when `statement`, which it runs, is done without. Asks
 * the server, again and again.
 */
export async function untilBlocked(observer: pg.Pool, { pid }: Pick<Session, "pid">, statement?: Promise<unknown>): Promise<void> {
  let isDone = false;
  const settle = () => {
    isDone = true;
  };
  statement?.then(settle, settle);
  while (!isDone) {
    const { rows } = await observer.query<{ blocked: boolean }>("select cardinality(pg_blocking_pids($1)) > 0 as blocked", [pid]);
    if (rows[0]?.blocked === true) return;
  }
}
