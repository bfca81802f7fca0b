import type { QueueDatabase } from "@queue/core";
import { Kysely, type KyselyPlugin, PostgresDialect } from "kysely";
import type pg from "pg";

/** The Kysely of an application. The pool is ended by whoever opened it. */
export function kyselyOn<TDatabase = QueueDatabase>(pool: pg.Pool, plugins: KyselyPlugin[] = []): Kysely<TDatabase> {
  return new Kysely<TDatabase>({ dialect: new PostgresDialect({ pool }), plugins });
}
