import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import type { Kysely } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { listenTo } from "../support/listener.js";
import { openSession } from "../support/session.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.job_keys");
});

const bytes = (text: string) => Buffer.byteLength(text);
/** Priority and lane, without since when. */
const linesIn = (heard: readonly string[]) => heard.map((payload) => payload.replace(/^(~?\d)@\d+ /, "$1 "));

describe("what is heard of jobs", () => {
  test.each([
    ["200 bytes of lions", "\u{1F981}".repeat(50)],
    ["190 bytes, the last that fit", "l".repeat(190)],
    ["191 bytes, the first that do not", "l".repeat(191)],
    ["quotes and ends of lines", "'\"\\\n$$"],
    ["a lane that looks like a cancel", "cancel 1"],
    ["a lane that looks like everything", "*"],
  ])("in a lane of %s is short, and at least that something came", async (_name, lane) => {
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", 1, { lane });
    const heard = await listener.heard();
    expect(heard).toHaveLength(1);
    expect(bytes(heard[0] ?? "")).toBeLessThanOrEqual(200);
    expect(["*", `5 ${lane}`]).toContain(linesIn(heard)[0]);
  });

  test("in 5,000 lanes by one statement is a handful of notifications, and none of them fails the enqueue", async () => {
    await using listener = await listenTo(database.url);
    await queue.enqueueMany(
      db,
      Array.from({ length: 5_000 }, (_, n) => ({ kind: "a", payload: n, options: { lane: `lane ${n}`, key: `${n}` } }) as const),
    );
    const heard = await listener.heard();
    expect(heard.length).toBeLessThanOrEqual(17);
    expect(heard).toContain("*");
  });

  test("by INSERT … SELECT and by a function of the application rings as an enqueue does", async () => {
    await using listener = await listenTo(database.url);
    await database.pool.query("insert into queue.jobs (kind, lane) select 'a', 'mail' from generate_series(1, 1000)");
    expect(linesIn(await listener.heard())).toEqual(["5 mail"]);
    await database.pool.query(
      "do $$ begin for n in 1 .. 100 loop insert into queue.jobs (kind, lane) values ('a', 'mail'); end loop; end $$",
    );
    expect(linesIn(await listener.heard())).toEqual(["5 mail"]);
  });

  test("in a transaction with savepoints is what was not rolled back", async () => {
    await using listener = await listenTo(database.url);
    await using session = await openSession(database.url);
    await session.query("begin; savepoint one");
    await queue.enqueue(session.executor, "a", 1, { lane: "undone" });
    await session.query("rollback to savepoint one");
    await queue.enqueue(session.executor, "a", 2, { lane: "kept" });
    await session.query("commit");
    expect(linesIn(await listener.heard())).toEqual(["5 kept"]);
  });

  test("of one enqueue that inserted nothing is nothing", async () => {
    await queue.enqueue(db, "a", 1, { key: "k" });
    await using listener = await listenTo(database.url);
    await queue.enqueue(db, "a", 1, { key: "k" });
    await queue.enqueueMany(db, []);
    expect(await listener.heard()).toEqual([]);
  });
});

describe("where nothing can be heard", () => {
  test("jobs are there all the same: with the trigger off, and by a replica's rules", async () => {
    await using listener = await listenTo(database.url);
    await using session = await openSession(database.url, { session_replication_role: "replica" });
    await queue.enqueue(session.executor, "a", 1);
    await database.pool.query("alter table queue.jobs disable trigger announce_jobs");
    await queue.enqueue(db, "a", 2);
    await database.pool.query("alter table queue.jobs enable trigger announce_jobs");
    expect(await listener.heard()).toEqual([]);
    expect(await workerOn(db).claim()).toHaveLength(2);
  });
});
