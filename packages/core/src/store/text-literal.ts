import { type RawBuilder, sql } from "kysely";
import { quoteLiteral } from "../migrations/quote.js";

/** `text` in the statement itself. Kysely's `sql.lit` takes `standard_conforming_strings` for granted. */
export function textLiteral(text: string): RawBuilder<string> {
  return sql.raw(quoteLiteral(text));
}
