/** A statement as it goes to the database: `$1`, `$2` … stand for the parameters, all of them strings, numbers or null. */
export interface ExecutableQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/**
 * The port that every statement runs through: what an adapter makes of another library's connection or transaction. `adapter`
 * names the library, and tells an executor from anything else that has an `execute()`.
 */
export interface Executor {
  readonly adapter: string;
  /** An object that is the same for all executors on one database, where the library has one: spares repeated schema checks. */
  readonly scope?: object | undefined;
  execute<R>(query: ExecutableQuery): Promise<{ rows: R[] }>;
}
