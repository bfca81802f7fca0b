import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { executorOn, openSession } from "./support/session.js";
import { rejectionOf } from "./support/thrown-by.js";
import { wholeLife } from "./support/whole-life.js";

const database = useTestDatabase();
// Roles belong to the whole server.
const role = `app_${randomBytes(6).toString("hex")}`;
let grants: string[];

beforeAll(async () => {
  const list = await readFile(new URL("grants.sql", import.meta.url), "utf8");
  grants = list
    .replaceAll(/--.*\n/g, "")
    .replaceAll(" to app;", ` to ${role};`)
    .trim()
    .split("\n");
  await database.pool.query(`create role ${role}`);
});

beforeEach(async () => {
  await database.pool.query(
    `drop owned by ${role}; truncate queue.jobs, queue.job_keys, queue.jobs_archive, queue.lanes, queue.workers, queue.effects`,
  );
});

afterAll(async () => {
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});

async function liveAs(given: readonly string[]): Promise<string[]> {
  for (const grant of given) await database.pool.query(grant);
  const pool = database.newPool({ max: 1, options: `-c role=${role}` });
  const sent: string[] = [];
  try {
    await wholeLife(executorOn(pool, sent));
    return sent;
  } finally {
    await pool.end();
  }
}

describe("B107: a role that has these rights and no others", () => {
  test("lives the whole life of jobs, and sends no statement that creates or changes a table", async () => {
    const sent = await liveAs(grants);
    expect(sent.length).toBeGreaterThan(30);
    for (const text of sent) expect(text).toMatch(/^\s*(with|select|insert|update|delete)\b/i);
    for (const text of sent)
      expect(text).not.toMatch(/\b(create|alter|drop|truncate|grant|reindex|vacuum|analyze|comment on|lock table)\b/i);
  });

  test("makes and drops partitions by the function of the schema's owner only", async () => {
    for (const grant of grants) await database.pool.query(grant);
    await database.pool.query(
      `do $$ begin execute format('drop table queue.%I', 'jobs_archive_' || to_char((now() at time zone 'UTC')::date + 7, 'YYYYMMDD')); end $$`,
    );
    await using session = await openSession(database.url, { role });
    expect(await session.query("select queue.maintain_archive() as changes")).toEqual([{ changes: 1 }]);
    expect(await rejectionOf(session.query("create table queue.mine ()"))).toMatchObject({ code: "42501" });
    expect(await rejectionOf(session.query("drop table queue.jobs_archive_default"))).toMatchObject({ code: "42501" });
  });

  test("needs every one of them", async () => {
    const single = grants.flatMap(separate);
    expect(single.length).toBeGreaterThan(25);
    const unneeded: string[] = [];
    for (const one of single) {
      await database.pool.query(
        `drop owned by ${role}; truncate queue.jobs, queue.job_keys, queue.jobs_archive, queue.lanes, queue.workers, queue.effects`,
      );
      const outcome = await liveAs(single.filter((grant) => grant !== one)).catch((error: unknown) => error);
      if (Array.isArray(outcome)) unneeded.push(one);
      else expect(outcome, one).toMatchObject({ code: "42501" });
    }
    expect(unneeded).toEqual([]);
  });
});

test("without the right to look at the schema an enqueue fails as the database says", async () => {
  await using session = await openSession(database.url, { role });
  const error = await rejectionOf(createQueue({ jobs: { a: job() } }).enqueue(session.executor, "a", null));
  expect(error).toMatchObject({ code: "42501" });
});

/** `grant a, b on x, y` as four grants. */
function separate(grant: string): string[] {
  const [, rights = "", what = "", objects = ""] = /^grant ([\w, ]+) on ((?:schema|sequence|function) |)(.+) to \w+;$/.exec(grant) ?? [];
  return rights.split(", ").flatMap((right) => objects.split(", ").map((object) => `grant ${right} on ${what}${object} to ${role};`));
}
