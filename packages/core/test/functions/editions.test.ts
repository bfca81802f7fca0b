import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { enqueuePlans } from "../../src/functions/enqueue-plans.js";
import { functionsStep } from "../../src/functions/install-functions.js";
import { schemaMigrations } from "../../src/migrations/all-migrations.js";
import { catalogueOf } from "../support/catalogue.js";
import { kyselyOn } from "../support/kysely-on.js";
import { rejectionOf } from "../support/thrown-by.js";

const database = useTestDatabase({ template: "empty" });
const current = functionsStep().name;
const run = (sql: string) => database.pool.query<Record<string, unknown>>(sql);

beforeEach(async () => {
  await run("drop schema if exists queue cascade");
  await migrate(kyselyOn(database.pool));
});

/** The functions as another edition of the package would have left them. */
async function becomeEdition(name: string): Promise<void> {
  await run(`delete from queue.migrations where name = '${current}'`);
  await run(`insert into queue.migrations (name, breaks_older_workers) values ('${name}', false) on conflict do nothing`);
}

describe("functions of an earlier edition", () => {
  test("are replaced by the next migrate, once; those that are gone or have another signature are dropped", async () => {
    const before = await catalogueOf(database.pool, "queue");
    await becomeEdition("functions-0000-0123456789ab");
    await run("create or replace function queue.mute_bell() returns boolean language sql as 'select false'");
    await run(`drop function queue.snooze`);
    for (const signature of ["snooze(text, bigint)", "of_old()"]) {
      await run(`create function queue.${signature} returns text language sql as '\n-- queue function 000000000000\nselect null::text'`);
    }
    // Ours, with the marker of the time before.
    await run(
      "create or replace function queue.mute_bell() returns boolean language sql as '\n-- queue function 111111111111\nselect false'",
    );
    expect(await migrate(kyselyOn(database.pool))).toEqual({ schema: "queue", applied: [current] });
    expect(await catalogueOf(database.pool, "queue")).toEqual(before);
    expect(await migrate(kyselyOn(database.pool))).toEqual({ schema: "queue", applied: [] });
  });

  test("are not needed by TypeScript: it sends the statements of those that are not there, and its check does not ask for them", async () => {
    await run(`delete from queue.migrations where name = '${current}'`);
    await run(
      `drop function queue.claim, queue.enqueue, ${enqueuePlans("queue")
        .map(({ name }) => `queue.${name}`)
        .join(", ")}`,
    );
    const queue = createQueue({ jobs: { a: job() } });
    expect(await queue.enqueue(kyselyOn(database.pool), "a", null)).toMatchObject({ inserted: true });
  });

  test("are no version of the tables in the messages of the check", async () => {
    await run("delete from queue.migrations where name like '0%'");
    const error = await rejectionOf(createQueue({ jobs: { a: job() } }).enqueue(kyselyOn(database.pool), "a", null));
    expect(error).toMatchObject({ code: "SCHEMA_TOO_OLD", expected: schemaMigrations.at(-1)?.name, found: "nothing" });
  });
});

test("functions that keep plans stay until the next one: processes of the edition before call them in transactions", async () => {
  const plans = async () =>
    (await run("select proname as name from pg_proc where pronamespace = 'queue'::regnamespace and proname ~ '^of_'")).rows.map(
      ({ name }) => name,
    );
  await becomeEdition("functions-0000-0123456789ab");
  await run("create function queue.of_before() returns text language sql as '\n-- queue plan 0000\nselect null::text'");
  await run(
    "do $$ declare name text; begin for name in select proname from pg_proc where prosrc ~ '^\n-- queue plan 0001' loop execute 'drop function queue.' || name; end loop; end $$",
  );
  await run("create function queue.of_long_ago() returns text language sql as '\n-- queue plan /999\nselect null::text'");
  expect(await migrate(kyselyOn(database.pool))).toMatchObject({ applied: [current] });
  expect(await plans()).toEqual(["of_before"]);
  // The next edition, which has others: this one's stay beside its own, and those before it go.
  await becomeEdition("functions-0000-0123456789ab");
  expect(await migrate(kyselyOn(database.pool))).toMatchObject({ applied: [current] });
  expect(await plans()).toEqual([]);
});

test("functions of a later edition are left as they are by an older process", async () => {
  await becomeEdition("functions-0002-0123456789ab");
  await run("create or replace function queue.mute_bell() returns boolean language sql as '\n-- queue function 222222222222\nselect true'");
  const before = await catalogueOf(database.pool, "queue");
  expect(await migrate(kyselyOn(database.pool))).toEqual({ schema: "queue", applied: [] });
  expect(await catalogueOf(database.pool, "queue")).toEqual(before);
});

test("functions that the schema's owner has made are neither replaced nor dropped", async () => {
  await becomeEdition("functions-0000-0123456789ab");
  await run("create function queue.claim(of_mine int) returns int language sql as 'select 1'");
  await migrate(kyselyOn(database.pool));
  expect((await run("select queue.claim(5) as mine")).rows).toEqual([{ mine: 1 }]);

  await becomeEdition("functions-0000-0123456789ab");
  await run("create or replace function queue.mute_bell() returns boolean language sql as 'select false'");
  const error = await rejectionOf(migrate(kyselyOn(database.pool)));
  expect(error).toMatchObject({
    code: "42723",
    message: expect.stringMatching(
      /^The function queue.mute_bell\(\) is not the queue's, .* Rename it, or give the queue a schema of its own\.$/,
    ),
  });
  expect((await run("select queue.mute_bell() as theirs")).rows).toEqual([{ theirs: false }]);
});
