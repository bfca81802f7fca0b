import { createWorkerStatements, type Statement } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import { describe, expect, test } from "vitest";
import { embedStatement } from "../../src/functions/embed-statement.js";
import { functionsStep, schemaPlans } from "../../src/functions/install-functions.js";
import { enqueueJobs } from "../../src/store/enqueue-jobs.js";
import { enqueueKeyedJobs } from "../../src/store/enqueue-keyed-jobs.js";
import { defineStatement, placeholders } from "../../src/store/statement.js";
import { queryBuilder } from "../../src/store/query-builder.js";

const database = useTestDatabase();
const worker = createWorkerStatements("queue");

/** Whatever the function is, its statements are these. */
const carried: readonly (readonly [name: string, statements: readonly Pick<Statement<never, unknown>, "sql">[]])[] = [
  ["arm_bell", [worker.armBell, worker.muteBell]],
  ["claim", [worker.claimJobs]],
  ["clean", [worker.deleteEnded, worker.deleteReleasedKeys]],
  ["complete", [worker.completeOwnJobs]],
  ["heartbeat", [worker.extendLeases]],
  ["insert_jobs", [enqueueJobs("queue"), enqueueKeyedJobs("queue")]],
  ["is_bell_settled", [worker.isBellSettled]],
  ["mute_bell", [worker.muteBell]],
  ["next_due", [worker.lookAhead]],
  ["register_worker", [worker.registerWorker]],
  ["release", [worker.ringWorkers]],
  ["requeue_job", [worker.requeueOwnJobs]],
  ["sweep", [worker.returnExpiredJobs, worker.ringWorkers]],
  ["unregister_worker", [worker.forgetWorker]],
  ...schemaPlans("queue").map(({ name, statement }) => [name, [statement]] as const),
];

const writes = /\b(insert into|update "|delete from|for (no key )?update)/;

async function installed(): Promise<{ name: string; source: string; config: string[] | null; is_definer: boolean }[]> {
  const { rows } = await database.pool.query<{ name: string; source: string; config: string[] | null; is_definer: boolean }>(
    `select proname as name, prosrc as source, proconfig as config, prosecdef as is_definer from pg_proc
      where pronamespace = 'queue'::regnamespace and prosrc ~ '^\n-- queue (function|plan) ' order by proname`,
  );
  return rows;
}

describe("the functions in the database", () => {
  test.each(carried)("%s carries the statements that TypeScript sends, and no others that change anything", async (name, statements) => {
    const found = (await installed()).find((one) => one.name === name);
    let rest = found?.source ?? "";
    for (const { sql } of statements) {
      // Each placeholder is a variable, and all else is as it is.
      const parts = sql.split(/\$\d+/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
      const pattern = new RegExp(parts.join("given_[a-z_]+"));
      expect(rest).toMatch(pattern);
      rest = rest.replace(pattern, "");
    }
    expect(rest).not.toMatch(writes);
  });

  test("write nothing but by those statements", async () => {
    const names = carried.map(([name]) => name);
    const others = (await installed()).filter(({ name }) => !names.includes(name));
    expect(others.filter(({ source }) => writes.test(source)).map(({ name }) => name)).toEqual([]);
  });

  test("run with the rights of who calls them, and look nothing up by a search_path", async () => {
    const all = await installed();
    expect(all.length).toBeGreaterThan(20);
    const keepPlans = new Set(schemaPlans("queue").map(({ name }) => name));
    for (const { name, config, is_definer } of all) {
      const settings = keepPlans.has(name) ? ["plan_cache_mode=force_generic_plan", "enable_seqscan=off", "jit=off"] : ['search_path=""'];
      expect({ name, config, is_definer }).toEqual({ name, config: settings, is_definer: false });
    }
  });

  test("have texts that every encoding has, and every library passes on", () => {
    for (const text of functionsStep().statements("queue")) {
      // oxlint-disable-next-line no-control-regex -- ASCII is the point
      expect(text).not.toMatch(/[^\x00-\x7F]|\$\d|\?/);
    }
  });

  test("have the texts of this edition: when this changes after a release, raise the edition", async () => {
    await expect(`${functionsStep().name}\n`).toMatchFileSnapshot("./edition.txt");
  });
});

describe("embedding a statement", () => {
  test("puts variables in the place of placeholders, and leaves alone what is quoted", () => {
    const p = placeholders<{ id: string; note: string }>();
    const statement = defineStatement<{ id: string; note: string }, object>(
      queryBuilder("$1")
        .selectFrom("jobs")
        .select("id")
        .where("id", "=", p.bigint("id"))
        .where("kind", "=", p.text("note"))
        .where("lane", "=", p.text("note")),
    );
    expect(embedStatement(statement, { id: "given_id", note: "given_note" })).toBe(
      'select "id" from "$1"."jobs" where "id" = given_id::text::int8 and "kind" = given_note::text and "lane" = given_note::text',
    );
    expect(() => embedStatement(statement, { id: "given_id" } as never)).toThrow(
      new TypeError("Nothing is given for note, which is $2 of the statement."),
    );
  });
});
