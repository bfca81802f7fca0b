const bool = 16;
/** int8, int2, int4, oid, float4 and float8. */
const numbers = [20, 21, 23, 26, 700, 701];

/** The type parsers of an application on node-postgres that wants int8 as numbers; and JSON, times and all else as texts. */
export function getTypeParser(oid: number): (value: string) => unknown {
  return oid === bool ? (value) => value === "t" : numbers.includes(oid) ? Number : String;
}
