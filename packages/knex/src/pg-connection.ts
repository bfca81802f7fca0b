/** A connection of node-postgres, as Knex holds them in its pool: the part that is used. */
export interface PgConnection {
  query<R>(query: { readonly text: string; readonly values: unknown[] }): Promise<{ rows: R[] }>;
}

/** A client of Knex, which its types leave open: the part that is used. In a transaction it has one connection only. */
export interface KnexClient {
  readonly config?: object;
  acquireConnection(): Promise<PgConnection>;
  releaseConnection(connection: PgConnection): Promise<void>;
}
