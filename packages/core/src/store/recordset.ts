import { type AliasedRawBuilder, type RawBuilder, sql } from "kysely";

type SqlType = "text" | "int2" | "int4" | "int8" | "float8" | "jsonb" | "timestamptz";

interface TypeOf {
  text: string;
  int2: number;
  int4: number;
  int8: string;
  float8: number;
  jsonb: unknown;
  timestamptz: Date;
}

type RowOf<TColumns extends Record<string, SqlType>> = { [K in keyof TColumns]: TypeOf[TColumns[K]] };

/**
 * A JSON array of objects as rows: how a batch of any size is one parameter of one statement. The order of the array is kept.
 * A JSON `null` comes out as SQL null, also in a jsonb column.
 */
export function recordset<const TColumns extends Record<string, SqlType>, TAlias extends string>(
  json: RawBuilder<unknown>,
  alias: TAlias,
  columns: TColumns,
): AliasedRawBuilder<RowOf<TColumns>, TAlias> {
  const list = Object.entries(columns).map(([name, type]) => sql`${sql.ref(name)} ${sql.raw(type)}`);
  return sql<RowOf<TColumns>>`pg_catalog.jsonb_to_recordset(${json})`.as<TAlias>(sql`${sql.id(alias)}(${sql.join(list)})`);
}
