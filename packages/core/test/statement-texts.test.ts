import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { createWorkerStatements } from "@queue/core/internal";
import { createAdminStatements } from "../src/store/admin-statements.js";
import { appliedMigrations, findMigrationsTable } from "../src/store/applied-migrations.js";
import { enqueueDueJob, enqueueJob } from "../src/store/enqueue-job.js";
import { enqueueJobs } from "../src/store/enqueue-jobs.js";
import { enqueueKeyedJobs } from "../src/store/enqueue-keyed-jobs.js";
import { findFunctions } from "../src/store/find-functions.js";

const statements = {
  ...createWorkerStatements("queue"),
  ...createAdminStatements("queue"),
  appliedMigrations: appliedMigrations("queue"),
  enqueueJob: enqueueJob("queue"),
  enqueueDueJob: enqueueDueJob("queue"),
  enqueueJobs: enqueueJobs("queue"),
  enqueueKeyedJobs: enqueueKeyedJobs("queue"),
  findFunctions: findFunctions("queue"),
  findMigrationsTable: findMigrationsTable("queue"),
};
const texts = Object.entries(statements).map(([name, { sql }]) => [name, sql] as const);

/** Looks like a call, and is the grammar's own: no function of any schema is looked up for it. */
const grammar = new Set(
  "all and any array as by case coalesce conflict distinct else end exists extract filter from greatest in interval lateral least materialized not on or over returning select set then union unnest values when where".split(
    " ",
  ),
);

describe.each(texts)("%s", (_name, text) => {
  test("casts each parameter, so that every driver and ORM sends the same", () => {
    expect(text.match(/\$\d+(?!\d|::)/g) ?? []).toEqual([]);
    // A number, a boolean, an id and a date go as text, which is cast again.
    expect(text.match(/\$\d+::(?!text\b|int\b)\w+/g) ?? []).toEqual([]);
  });

  test("calls no function that a search_path decides about", () => {
    const withoutLiterals = text.replaceAll(/'(?:[^']|'')*'/g, "''");
    const calls = [...withoutLiterals.matchAll(/(?<![\w".])([a-z_][\w."]*|"(?:[^"]|"")+"\.[a-z_"]+)\s*\(/g)].map(([, name = ""]) => name);
    const aliases = [...withoutLiterals.matchAll(/\bas ([a-z]\w*)\s*\(/g)].map(([, name = ""]) => name);
    const looseCalls = calls.filter(
      (name) => !name.startsWith("pg_catalog.") && !name.startsWith('"queue"') && !grammar.has(name) && !aliases.includes(name),
    );
    expect(looseCalls).toEqual([]);
    // With one list it would be looked up like any function; with several it is expanded by the grammar.
    for (const [, list = ""] of withoutLiterals.matchAll(/(?<!pg_catalog\.)unnest\(([^)]*)\)/g)) expect(list).toContain(",");
  });

  test("has no ? operator and no $ inside of a literal, which knex and others would rewrite", () => {
    expect(text).not.toContain("?");
    for (const literal of text.match(/'(?:[^']|'')*'/g) ?? []) expect(literal).not.toContain("$");
  });
});

test.each(["enqueueJob", "enqueueJobs", "enqueueKeyedJobs", "claimJobs", "completeJobs", "requeueJobs", "extendLeases"] as const)(
  "the text of %s is what was measured: a change shows here, and wants a new look at its plan",
  async (name) => {
    await expect(layOut(statements[name].sql)).toMatchFileSnapshot(`./statement-texts/${name}.sql`);
  },
);

test("a batch of any size is the same text, with one parameter", async () => {
  const queue = createQueue({ jobs: { a: job<number>() } });
  const sent: { sql: string; parameters: readonly unknown[] }[] = [];
  const executor = {
    adapter: "own",
    scope: {},
    execute: <R>(query: { sql: string; parameters: readonly unknown[] }) => {
      sent.push(query);
      const rows = query.sql.includes("to_regclass") ? [{ found: "x" }] : [{ name: "0001-initial", breaks: "no", id: "1" }];
      return Promise.resolve({ rows: rows as R[] });
    },
  };
  await queue.enqueueMany(
    executor,
    [1, 2].map((payload) => ({ kind: "a", payload })),
  );
  await queue.enqueueMany(executor, [{ kind: "a", payload: 1, options: { key: "k" } }]);
  const items = Array.from({ length: 1_000 }, (_, n) => ({ kind: "a" as const, payload: n }));
  await queue.enqueueMany(executor, items);
  await queue.enqueueMany(
    executor,
    items.map((item, n) => ({ ...item, options: { key: `k${n}`, delay: n, priority: 1 as const } })),
  );
  const [, , , one, oneKeyed, many, manyKeyed] = sent;
  expect(sent).toHaveLength(7);
  expect(many?.sql).toBe(one?.sql);
  expect(manyKeyed?.sql).toBe(oneKeyed?.sql);
  for (const { parameters } of [many, manyKeyed].filter((query) => query !== undefined)) {
    expect(parameters).toHaveLength(1);
    expect(JSON.parse(String(parameters[0]))).toHaveLength(1_000);
  }
});

test.each([["text"], [5], [1.5], [true], [null]])("the parameters of an input of %j are texts or null", (value) => {
  const input = new Proxy({}, { get: () => value });
  for (const [name, statement] of Object.entries(statements)) {
    const bind = statement.bind as (input: object) => readonly unknown[];
    const expected = value === null ? null : String(value);
    expect(bind(input), name).toEqual(bind(input).map(() => expected));
  }
});

function layOut(text: string): string {
  return `${text
    .replaceAll(/\s+/g, " ")
    .replaceAll(
      / (with|select|from|where|order by|limit|for|update|insert into|delete from|set|returning|on conflict|union all|inner join|left join|cross join)\b/g,
      "\n$1",
    )}\n`;
}
