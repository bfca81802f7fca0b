import { builtins, getTypeParser } from "pg-types";

/** The part of a `PGlite` that says how values of each type come back, by the type's oid. */
export interface TypedInstance {
  // oxlint-disable-next-line no-explicit-any -- PGlite's own signature
  parsers: Record<number | string, (text: string, oid?: number) => any>;
}

/** Above it are the types that a database defines itself. */
const lastBuiltinOid = 9_999;

/**
 * Makes `pglite` return the JavaScript types that node-postgres returns, by the very parsers of node-postgres. Types without
 * one come back as text, as there. A parser that the application registers (`pg.types.setTypeParser`) counts here, too.
 */
export function giveTypesOfPg(pglite: TypedInstance): void {
  // All at once: PGlite copies what it has for each query that comes with parsers of its own, which doubles the query's time.
  pglite.parsers = Object.fromEntries(oidsOfPg().map((oid) => [oid, (text: string) => getTypeParser(oid, "text")(text)]));
}

function oidsOfPg(): number[] {
  const parserOf = (oid: number): unknown => getTypeParser(oid, "text");
  const noParser = parserOf(0);
  const parsed = Array.from({ length: lastBuiltinOid }, (_, index) => index + 1).filter((oid) => parserOf(oid) !== noParser);
  return [...new Set<number>([...Object.values(builtins), ...parsed])];
}
