import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const guide = await readFile(new URL("../../../docs/operations.md", import.meta.url), "utf8");

interface Block {
  /** The heading that it stands under. */
  readonly heading: string;
  readonly sql: string;
}

/** Every block of SQL in the guide. */
const blocks = guide.split(/^(?=##)/m).flatMap((section): readonly Block[] => {
  const heading = /^#+ (.*)$/m.exec(section)?.[1] ?? "";
  return [...section.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = ""]) => ({ heading, sql }));
});

const database = useTestDatabase();
// Roles belong to the whole server, and the guide's has a name that somebody may have.
const role = `app_${randomBytes(6).toString("hex")}`;
const queue = createQueue({ jobs: { mail: job() } });
let db: Kysely<unknown>;

beforeAll(async () => {
  db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) });
  await database.pool.query(`create role ${role}`);
});

afterAll(async () => {
  await database.pool.query(`drop owned by ${role}; drop role ${role}`);
});

/** Runs `sql` and undoes it, but for what PostgreSQL runs in no transaction; the rows of its last statement. */
async function run(sql: string, before = ""): Promise<Record<string, unknown>[]> {
  const text = sql.replaceAll(/ to app;/g, ` to ${role};`);
  const client = await database.pool.connect();
  try {
    if (text.startsWith("vacuum")) return (await client.query(text)).rows as Record<string, unknown>[];
    await client.query(`begin; ${before}`);
    // Several statements give several results, which the types do not say.
    const results = [await client.query(text)].flat() as pg.QueryResult<Record<string, unknown>>[];
    return results.flatMap(({ rows }) => rows);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

function blockUnder(heading: string, containing = ""): string {
  const found = blocks.find((block) => block.heading === heading && block.sql.includes(containing));
  if (found === undefined) throw new Error(`The guide has no such SQL under ${JSON.stringify(heading)}.`);
  return found.sql;
}

describe("the operations guide", () => {
  it("has queries", () => {
    expect(blocks.length).toBeGreaterThan(25);
  });

  it.each(blocks.map(({ heading, sql }, index) => ({ name: `${index + 1}, ${heading}`, sql })))(
    "has a query that runs: $name",
    async ({ sql }) => {
      await expect(run(sql)).resolves.toBeInstanceOf(Array);
    },
  );

  it("leads every link within itself to a heading", () => {
    const anchors = new Set([...guide.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading)));
    for (const [, anchor = ""] of guide.matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
  });
});

describe("the guide's query finds", () => {
  it("the session that holds a snapshot", async () => {
    const reader = await database.newPool({ application_name: "nightly report" }).connect();
    try {
      await reader.query("begin isolation level repeatable read; select 1 from queue.jobs");
      expect(await run(blockUnder("A held snapshot"))).toContainEqual(
        expect.objectContaining({ holder: "session", about: "nightly report" }),
      );
    } finally {
      await reader.query("rollback");
      reader.release();
    }
  });

  it("a dead letter that still holds its key", async () => {
    const { id } = await queue.enqueue(db, "mail", null, { key: "k" });
    await database.pool.query("update queue.jobs set status = 'dead', last_error = 'no such user' where id = $1", [id]);
    expect(await run(blockUnder("Keys held by dead jobs"))).toEqual([expect.objectContaining({ id, key: "k", error: "no such user" })]);
    expect(await run(blockUnder("Dead letters"))).toEqual([expect.objectContaining({ kind: "mail", error: "no such user", count: "1" })]);
    await queue.admin(db).cancel(id);
  });

  it("no key of a dead letter that let it go", async () => {
    const { id } = await queue.enqueue(db, "mail", null, { key: "ended", keyHolds: "until-ended" });
    await database.pool.query("update queue.jobs set status = 'dead' where id = $1", [id]);
    expect(await run(blockUnder("Keys held by dead jobs"))).toEqual([]);
    await queue.admin(db).cancel(id);
  });

  it("a kind that no worker has a handler for, until one has", async () => {
    const { id } = await queue.enqueue(db, "mail", null);
    const query = blockUnder("Kinds that nobody handles");
    const worker = (lanes: string) =>
      `insert into queue.workers values ('w', now(), now() + interval '1 minute', '{mail}', ${lanes}, 'host', 1)`;
    expect(await run(query)).toEqual([expect.objectContaining({ kind: "mail", lane: "default", count: "1" })]);
    expect(await run(query, worker("'{other}'"))).toHaveLength(1);
    expect(await run(query, worker("null"))).toEqual([]);
    await queue.admin(db).cancel(id);
  });

  it("an effect whose process died, and not one that is being carried out", async () => {
    const { id } = await queue.enqueue(db, "mail", null);
    const query = blockUnder("Effects that nobody knows of");
    const effect = `insert into queue.effects (kind, key, job_id, started_by, started_claims) values ('mail', 'charge', ${id}, ${id}, 1)`;
    expect(await run(query, effect)).toEqual([expect.objectContaining({ key: "charge", job_id: id })]);
    expect(await run(query, `${effect}; update queue.jobs set status = 'running', claims = 1 where id = ${id}`)).toEqual([]);
    expect(await run(query, `${effect}; update queue.effects set done_at = now()`)).toEqual([]);
    await queue.admin(db).cancel(id);
  });

  it("a job that killed its worker", async () => {
    const { id } = await queue.enqueue(db, "mail", null);
    expect(await run(blockUnder("A worker that died"))).toEqual([]);
    const died = `update queue.jobs set errors = '[{"name": "LeaseExpired", "attempt": 1}]' where id = ${id}`;
    expect(await run(blockUnder("A worker that died"), died)).toEqual([expect.objectContaining({ id, failures: 1 })]);
    await queue.admin(db).cancel(id);
  });

  it("a foreign key to jobs", async () => {
    expect(await run(blockUnder("A foreign key to jobs"), "create table public.notes (job bigint references queue.jobs)")).toEqual([
      { of_table: "notes", conname: "notes_job_fkey" },
    ]);
  });

  it("a sequence that is behind its rows, and one that is not", async () => {
    const query = blockUnder("The sequence of ids");
    expect(await run(query)).toEqual([expect.objectContaining({ is_ahead: true })]);
    expect(await run(query, "insert into queue.jobs (id, kind) values (900000000000, 'mail')")).toEqual([
      expect.objectContaining({ is_ahead: false, largest: "900000000000" }),
    ]);
  });

  it("nothing of the queue after it is removed, and its lanes paused after a restore", async () => {
    const { id } = await queue.enqueue(db, "mail", null);
    expect(await run(`${blockUnder("Deploy and upgrade", "drop schema")} select from pg_namespace where nspname = 'queue'`)).toEqual([]);
    expect(await run(`${blockUnder("Backup and restore")} select lane from queue.lanes where paused_at is not null`)).toContainEqual({
      lane: "default",
    });
    await queue.admin(db).cancel(id);
  });
});

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
