import { createQueue, job } from "@queue/core";
import { migrate, migrationSql } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { describe, expect, test } from "vitest";
import { allSteps } from "./support/all-steps.js";
import { catalogueOf, schemasOf } from "./support/catalogue.js";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { wholeLife } from "./support/whole-life.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase({ template: "empty" });

const names = [
  "my-schema",
  "My.Schema",
  "my.schema",
  "user",
  "select",
  "1q",
  'a"b',
  '"',
  "o'brien",
  "a$$b",
  "$body$",
  "a\\b",
  "a\\'b",
  "%I %s %%",
  "$1",
  "?",
  ":x",
  "--",
  "/*",
  "a;b",
  "sch\u00e9ma",
  "\u03b1".repeat(31),
  "a\nb",
  "a b",
  " ",
  "my_queue2X",
  "s".repeat(63),
];

describe("B103: whatever the schema is called", () => {
  test.each(names)("%j: migrate, enqueue, claim, complete, die, operate, clean", async (schema) => {
    await using session = await openSession(database.url);
    expect(await migrate(kyselyOn(database.pool), { schema })).toEqual({ schema, applied: allSteps });
    expect(await migrate(kyselyOn(database.pool), { schema })).toEqual({ schema, applied: [] });
    await wholeLife(session.executor, schema);
  });

  test("nothing was created anywhere else, and names that differ in case are two", async () => {
    expect(await schemasOf(database.pool)).toEqual(["public", ...names].sort());
    const one = createQueue({ schema: "My.Schema", jobs: { a: job() } });
    const two = createQueue({ schema: "my.schema", jobs: { a: job() } });
    const db = kyselyOn(database.pool);
    expect((await one.enqueue(db, "a", null, { key: "both" })).inserted).toBe(true);
    expect((await two.enqueue(db, "a", null, { key: "both" })).inserted).toBe(true);
    // Each has the job of its own life, and this one.
    for (const schema of ["My.Schema", "my.schema"]) expect(await workerOn(db, { schema }).claim()).toHaveLength(2);
  });
});

describe("migrationSql", () => {
  test.each(['a"b\\c', "o'brien", "a\nb;c"])("makes a script for %j that gives the same catalogue as migrate", async (schema) => {
    await database.pool.query(`drop schema if exists "${schema.replaceAll('"', '""')}" cascade`);
    await migrate(kyselyOn(database.pool), { schema });
    const migrated = await catalogueOf(database.pool, schema);
    await database.pool.query(`drop schema "${schema.replaceAll('"', '""')}" cascade`);
    for (const standardStrings of ["on", "off"]) {
      await using session = await openSession(database.url, { standard_conforming_strings: standardStrings, escape_string_warning: "off" });
      for (const statement of splitLikePsql(migrationSql({ schema }))) await session.query(statement);
      expect(await catalogueOf(database.pool, schema)).toEqual(migrated);
      await using ordinary = await openSession(database.url);
      await wholeLife(ordinary.executor, schema);
      expect(await migrate(kyselyOn(database.pool), { schema })).toEqual({ schema, applied: [] });
      await database.pool.query(`drop schema "${schema.replaceAll('"', '""')}" cascade`);
    }
  });

  test("the whole script runs as one text too, and leaves nothing when it fails", async () => {
    const script = migrationSql({ schema: "scripted" });
    await database.pool.query("create schema scripted; create table scripted.lanes (mine int)");
    await expect(database.pool.query(script)).rejects.toMatchObject({ code: "42P07" });
    expect(await catalogueOf(database.pool, "scripted")).toHaveLength(2);
    await database.pool.query("drop schema scripted cascade");
    await database.pool.query(script);
    expect(await migrate(kyselyOn(database.pool), { schema: "scripted" })).toEqual({ schema: "scripted", applied: [] });
  });

  test("has the default schema, ends its statements, and refuses a name that cannot be", () => {
    expect(migrationSql()).toBe(migrationSql({ schema: "queue" }));
    expect(migrationSql()).toMatch(/^begin;\n[^]*\ncommit;\n$/);
    expect(() => migrationSql({ schema: "" })).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
  });
});

/** At semicolons outside of quotes and of dollar quotes, as psql sends a script. */
function splitLikePsql(script: string): string[] {
  const statements: string[] = [];
  let rest = script;
  let statement = "";
  while (rest.length > 0) {
    const token = /^(?:E'(?:[^'\\]|\\[^]|'')*'|'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$\w*\$)[^]*?\1|--[^\n]*|;|[^])/.exec(rest)?.[0] ?? rest;
    rest = rest.slice(token.length);
    if (token === ";") {
      statements.push(statement.trim());
      statement = "";
    } else {
      statement += token;
    }
  }
  expect(statement.trim()).toBe("");
  return statements;
}
