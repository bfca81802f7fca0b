import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type OpenPglite, openPglite } from "@queue/pglite";
import { useTestDatabase } from "@queue/test-database";

const server = useTestDatabase({ template: "empty" });
// In UTC a date that lost its offset looks right.
vi.stubEnv("TZ", "Asia/Tokyo");
let embedded: OpenPglite<unknown>;
let onServer: Kysely<unknown>;

beforeAll(async () => {
  embedded = await openPglite<unknown>();
  onServer = new Kysely({ dialect: new PostgresDialect({ pool: server.newPool() }) });
  for (const db of [embedded.db, onServer]) await sql`create type mood as enum ('fine', 'tired')`.execute(db);
});
afterAll(async () => {
  await embedded.close();
  vi.unstubAllEnvs();
});

test("the process is far from UTC, so that local times differ from those of the server", () => {
  expect(summer.getTimezoneOffset()).toBe(-540);
});

/** The values of one row, by node-postgres and by PGlite. */
async function onBoth(expression: string, parameters: readonly unknown[] = []): Promise<{ pg: unknown; pglite: unknown }> {
  const [pg, pglite] = await Promise.all(
    [onServer, embedded.db].map(
      async (db) => (await db.executeQuery<{ value: unknown }>(compiled(`select ${expression} as value`, parameters))).rows[0]?.value,
    ),
  );
  return { pg, pglite };
}

function compiled(text: string, parameters: readonly unknown[]) {
  const parts = text.split(/\$\d/);
  return sql(parts as unknown as TemplateStringsArray, ...parameters).compile(onServer);
}

test.each([
  "9007199254740993::int8",
  "1::int8",
  "1::int4",
  "1::int2",
  "1.50::numeric",
  "1.5::float8",
  "'NaN'::float8",
  "true",
  "'text'::text",
  "null::int8",
  "now() - now() + '2026-03-01 12:34:56.789+02'::timestamptz",
  "'infinity'::timestamptz",
  "'2026-03-01 12:34:56'::timestamp",
  "'2026-03-01'::date",
  "'12:34:56'::time",
  "'1 day 02:03:04'::interval",
  `'{"a": [1, "[2]"], "b": null}'::jsonb`,
  `'"[1,2]"'::jsonb`,
  "'[1]'::json",
  String.raw`'\x00ff'::bytea`,
  "'6f1f1b0e-0d0c-4b4e-9d3f-3a9d2f3e4c5d'::uuid",
  "'fine'::mood",
  "array['fine', 'tired']::mood[]",
  "array[1, null]::int8[]",
  "array[1, 2]::int4[]",
  "array[[1, 2], [3, 4]]::int4[]",
  "array[1.5]::numeric[]",
  `array['a', 'b,"c']::text[]`,
  "array['2026-03-01']::date[]",
  "array[now() - now() + '2026-03-01 12:00+00'::timestamptz]",
  `array['{"a":1}']::jsonb[]`,
  "array[true, null]",
  "int4range(1, 5)",
  "point(1, 2)",
  "'10.0.0.1'::inet",
  "row(1, 'a')",
])("%s comes back as from node-postgres", async (expression) => {
  const { pg, pglite } = await onBoth(expression);
  expect(pglite).toStrictEqual(pg);
});

const summer = new Date(2026, 6, 1, 0, 30, 0, 123);

test.each([
  ["$1::timestamptz", summer],
  ["$1::timestamp", summer],
  ["$1::date", summer],
  ["$1::text", summer],
  ["$1::timestamptz", new Date(Date.UTC(0, 0, 1) - 62_200_000_000_000)],
  ["$1::date[]", [summer]],
  ["$1::timestamptz[]", [[summer], [summer]]],
  ["$1::jsonb", { at: "now", list: [1] }],
  ["$1::text", { at: "now" }],
  ["$1::jsonb", '{"a":1}'],
  ["$1::int8", 9007199254740993n],
  ["$1::int8", "9007199254740993"],
  ["$1::int8[]", [1, 2]],
  ["$1::text[]", ['a"b', "c,d", null]],
  ["$1::bytea", Buffer.from([0, 255])],
  ["$1::bool", false],
  ["$1::text", null],
  ["$1::text", undefined],
])("%s takes what node-postgres takes: %s", async (expression, parameter) => {
  const { pg, pglite } = await onBoth(expression, [parameter]);
  expect(pglite).toStrictEqual(pg);
});

test("an interval can be written as it was read", async () => {
  const { pglite: interval } = await onBoth("'1 day 02:03:04'::interval");
  const { pg, pglite } = await onBoth("$1::interval", [interval]);
  expect(pglite).toStrictEqual(pg);
});
