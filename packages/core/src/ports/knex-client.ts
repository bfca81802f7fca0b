import type { ExecutableQuery } from "./executor.js";

/** A connection of node-postgres, as Knex holds them in its pool: the part that is used. */
interface PgConnection {
  query<R>(query: { readonly text: string; readonly values: unknown[] }): Promise<{ rows: R[] }>;
}

/** A client of Knex, which its types leave open, also below MikroORM 6: the part that is used. */
export interface KnexClient {
  /** What was given to `knex()`: the same object for a Knex and its transactions. */
  readonly config?: object;
  acquireConnection(): Promise<PgConnection>;
  releaseConnection(connection: PgConnection): Promise<void>;
}

/**
 * Runs one statement on a connection of the client: any one of a Knex, and the only one of a transaction. Not through Knex,
 * whose `raw` knows no $1, and takes each ? for a binding, also in names and texts.
 */
export async function runOnKnex<R>(client: KnexClient, { sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
  const connection = await client.acquireConnection();
  try {
    const { rows } = await connection.query<R>({ text: sql, values: [...parameters] });
    return { rows };
  } finally {
    // That of a transaction stays with it: its client gives nothing back.
    await client.releaseConnection(connection);
  }
}
