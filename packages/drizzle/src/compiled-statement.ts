import { SQL } from "drizzle-orm";
import type { ExecutableQuery } from "@queue/core/adapter";

/**
 * A statement that has its text already, as Drizzle takes one. Drizzle would put a text together from pieces and number the
 * parameters itself; this one answers with what Kysely compiled, so that nothing in it can be taken for a placeholder.
 */
export class CompiledStatement extends SQL {
  readonly #query: ExecutableQuery;

  constructor(query: ExecutableQuery) {
    super([]);
    this.#query = query;
  }

  override toQuery(): ReturnType<SQL["toQuery"]> {
    return { sql: this.#query.sql, params: [...this.#query.parameters] };
  }
}
