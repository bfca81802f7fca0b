import { createHash } from "node:crypto";
import type { Executor } from "@queue/core";
import pg from "pg";

/** A connection of its own: what two transactions do to each other is seen by two of them. */
export interface Session extends AsyncDisposable {
  readonly pid: number;
  readonly executor: Executor;
  query<R extends pg.QueryResultRow>(sql: string, parameters?: readonly unknown[]): Promise<R[]>;
}

/** @param scope the same for all sessions on one database: what is known of it is looked up once */
export async function openSession(url: string, scope: object = {}): Promise<Session> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Prepared once: the same few texts run thousands of times.
  const query = async <R>(sql: string, parameters: readonly unknown[] = []): Promise<R[]> => {
    const name = createHash("sha256").update(sql).digest("hex").slice(0, 32);
    const { rows } = await client.query({ name, text: sql, values: [...parameters] });
    return rows as R[];
  };
  const [row] = await query<{ pid: number }>("select pg_backend_pid() as pid");
  return {
    pid: row?.pid ?? 0,
    executor: { adapter: "pg", scope, execute: async (sent) => ({ rows: await query(sent.sql, sent.parameters) }) },
    query,
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/**
 * Resolves to true when `session` waits for a lock that another one holds, to false when `statement`, which it runs, has ended
 * without. Asks the server, again and again.
 */
export async function isWaiting(observer: Session, { pid }: Pick<Session, "pid">, statement: Promise<unknown>): Promise<boolean> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  statement.then(end, end);
  while (!hasEnded) {
    const [row] = await observer.query<{ waits: boolean }>(
      "select wait_event_type = 'Lock' and cardinality(pg_blocking_pids(pid)) > 0 as waits from pg_stat_activity where pid = $1",
      [pid],
    );
    if (row?.waits === true) return true;
  }
  return false;
}

/** A statement that waits longer for a lock fails. */
export async function setLockTimeout(session: Session, ms: number): Promise<void> {
  await session.query("select set_config('lock_timeout', $1, false)", [String(ms)]);
}
