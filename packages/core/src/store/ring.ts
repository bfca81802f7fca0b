import { type RawBuilder, sql } from "kysely";
import { notificationChannel } from "./notification-channel.js";

/**
 * Wakes the workers of `schema`, as an item of FROM: `select … from x cross join lateral ${ring}`. `message` is `*` (look
 * everywhere) or `cancel ID`. pg_notify in FROM, because some libraries cannot read a column of type void.
 */
export function ring(schema: string, message: RawBuilder<string>): RawBuilder<unknown> {
  return sql`pg_catalog.pg_notify(${sql.lit(notificationChannel(schema))}, ${message})`;
}
