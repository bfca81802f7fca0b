/** A connection of node-postgres, as Knex holds them in its pool: the part that is used. */
export interface PgConnection {
  query<R>(query: { readonly text: string; readonly values: unknown[] }): Promise<{ rows: R[] }>;
}

/** What MikroORM 6 runs its statements on, a Knex or a transaction of it: the part that is used. */
export interface KnexLike {
  readonly client: {
    readonly config?: object;
    acquireConnection(): Promise<PgConnection>;
    releaseConnection(connection: PgConnection): Promise<void>;
  };
}

/** Its client has one connection only. */
export interface KnexTransactionLike extends KnexLike {
  isCompleted(): boolean;
}
