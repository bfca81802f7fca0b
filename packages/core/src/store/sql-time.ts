import { type Expression, type RawBuilder, sql } from "kysely";

/** The moment, also in the middle of a long transaction. Qualified, so that no `now()` of another schema is ever called. */
export const clockTimestamp: RawBuilder<Date> = sql`pg_catalog.clock_timestamp()`;

/** The begin of the transaction; in a statement that stands alone, its own begin. */
export const transactionTimestamp: RawBuilder<Date> = sql`pg_catalog.now()`;

/**
 * An instant as text: microseconds since 1970. Drivers parse timestamps in many ways and applications replace those parsers;
 * a text of digits is the same for all, keeps the microseconds, and knows no time zone.
 */
export function toMicros(instant: Expression<Date> | Expression<Date | null>): RawBuilder<string> {
  return sql`(extract(epoch from ${instant}) * 1000000)::int8::text`;
}

/** The inverse of {@link toMicros}, in milliseconds' precision. */
export function toDate(micros: string): Date {
  return new Date(Math.floor(Number(micros) / 1_000));
}
