import { createQueue, job, RetryAfterError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { type Kysely, sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "../support/kysely-on.js";
import { rejectionOf, thrownBy } from "../support/thrown-by.js";
import { workerOn } from "../support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });
let db: Kysely<object>;

beforeAll(() => {
  db = kyselyOn<object>(database.pool);
});
beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.lanes");
});

/** A date that says of itself what it is not. */
class LyingDate extends Date {
  override toISOString(): string {
    return "soon";
  }
  override toJSON(): string {
    return "soon";
  }
}

describe("due times", () => {
  test.each<[name: string, runAt: unknown]>([
    ["the year 10000", new Date("+010000-01-01T00:00:00Z")],
    ["the year before Christ", new Date("-000001-12-31T00:00:00Z")],
    ["a leap second, which Date does not have", new Date("2016-12-31T23:59:60Z")],
    ["milliseconds", Date.now()],
    ["a text", "2026-01-01T00:00:00Z"],
    ["what looks like a Date", { toISOString: () => "2026-01-01T00:00:00Z", getUTCFullYear: () => 2026 }],
    ["null", null],
  ])("%s is refused before any SQL, and the transaction goes on", async (_name, runAt) => {
    await db.transaction().execute(async (trx) => {
      expect(await rejectionOf(queue.enqueue(trx, "a", 1, { runAt: runAt as Date }))).toMatchObject({
        code: "INVALID_OPTION",
        option: "runAt",
      });
      await sql`select 1`.execute(trx);
    });
  });

  test("a Date of a class that shows itself in its own way is the moment that it holds", async () => {
    const runAt = new LyingDate(Date.now() + 3_600_000);
    await queue.enqueue(db, "a", 1, { runAt });
    const { rows } = await database.pool.query<{ run_at: Date }>("select run_at from queue.jobs");
    expect(rows[0]?.run_at.getTime()).toBe(runAt.getTime());
  });

  test.each([
    "9999-12-31T23:59:59.999Z",
    "2028-02-29T00:00:00.000Z",
    "2027-03-28T01:30:00.000Z",
    "2027-10-31T01:30:00.000Z",
    "2038-01-19T03:14:08.000Z",
  ])("%s is that moment, wherever the session's clocks are", async (at) => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"]) {
      await db.transaction().execute(async (trx) => {
        await sql.raw(`set local timezone = '${zone}'; set local datestyle = 'German'`).execute(trx);
        await queue.enqueue(trx, "a", 1, { runAt: new Date(at) });
      });
    }
    const { items } = await queue.admin(db).jobs();
    expect(items.map(({ runAt }) => runAt.toISOString())).toEqual(Array(4).fill(at));
  });

  test("the longest delay of all is stored and can be looked at", async () => {
    const { id } = await queue.enqueue(db, "a", 1, { delay: "36525d", key: "k", keyHolds: "36525d" });
    const record = await queue.admin(db).job(id);
    expect(record?.runAt.getUTCFullYear()).toBeGreaterThan(2_100);
    expect(await queue.enqueue(db, "a", 1, { key: "k" })).toEqual({ id, inserted: false });
  });
});

describe("durations", () => {
  test.each([
    "1 s",
    "1S",
    "s",
    "+1s",
    "-1s",
    "1e3s",
    ".5s",
    "1.s",
    "0x10s",
    "1s ",
    "\u0661s",
    "1_000ms",
    "1h30m",
    "PT1H",
    "Infinitys",
    "9".repeat(400) + "s",
    "0.5ms",
    "36526d",
    "1,5s",
    true,
    [1],
    {},
    new Date(0),
    Number.MAX_SAFE_INTEGER,
    2 ** 53,
    1.5,
    -0.1,
    null,
  ])("%j is none: refused before any SQL", async (delay) => {
    expect(await rejectionOf(queue.enqueue(db, "a", 1, { delay: delay as number }))).toMatchObject({
      code: "INVALID_OPTION",
      option: "delay",
    });
    expect(thrownBy(() => new RetryAfterError(delay as number))).toMatchObject({ code: "INVALID_OPTION", option: "delay" });
    expect(thrownBy(() => job({ timeout: delay as number }))).toMatchObject({ code: "INVALID_OPTION" });
  });

  test.each([[0], [-0], ["0s"], ["0.001s"], ["1.1s"], ["00005m"]])("%j is one", async (delay) => {
    expect(await queue.enqueue(db, "a", 1, { delay: delay as "0s" })).toMatchObject({ inserted: true });
  });
});

describe("options that an operator's program may give", () => {
  async function die(count: number): Promise<void> {
    await queue.enqueueMany(
      db,
      Array.from({ length: count }, (_, n) => ({ kind: "a", payload: n }) as const),
    );
    await database.pool.query("update queue.jobs set status = 'dead'");
  }
  async function dead(): Promise<number> {
    return (await database.pool.query("select from queue.jobs where status = 'dead'")).rowCount ?? 0;
  }

  test.each<[name: string, filter: object]>([
    ["a kind that is null", { kind: null }],
    ["a lane that is null", { lane: null }],
    ["a kind that is null, beside a lane", { kind: null, lane: "default" }],
    ["a kind that is no text", { kind: 5 }],
    ["a kind with NUL", { kind: "a\u0000" }],
    ["a lane with half a surrogate", { lane: "\uD800" }],
    ["a list of kinds", { kind: ["a"] }],
    ["an answer to all that is no boolean", { all: "yes" }],
    ["a dryRun that is a text", { kind: "a", dryRun: "true" }],
    ["a dryRun that is a number", { kind: "a", dryRun: 1 }],
    ["a dryRun that is null", { kind: "a", dryRun: null }],
    ["a deadAfter that is a text", { deadAfter: "2026-01-01" }],
    ["no limit that is one", { kind: "a", limit: Number.POSITIVE_INFINITY }],
  ])("redrive refuses %s, and moves nothing", async (_name, filter) => {
    await die(3);
    const error = await rejectionOf(queue.admin(db).redrive(filter));
    expect(error).toMatchObject({ code: "INVALID_OPTION" });
    expect(await dead()).toBe(3);
  });

  test.each<[name: string, filter: object, option: string]>([
    ["a kind that is no text", { kind: 5 }, "kind"],
    ["a kind with NUL", { kind: "\u0000" }, "kind"],
    ["a lane with half a surrogate", { lane: "\uDC00" }, "lane"],
    ["a list of lanes", { lane: ["default"] }, "lane"],
    ["a status in capitals", { status: "DEAD" }, "status"],
    ["a status of Object's", { status: "constructor" }, "status"],
    ["half a limit", { limit: 0.5 }, "limit"],
    ["an after that is a number", { after: 5 }, "after"],
  ])("jobs refuses %s before any SQL", async (_name, filter, option) => {
    await db.transaction().execute(async (trx) => {
      expect(await rejectionOf(queue.admin(trx).jobs(filter))).toMatchObject({ code: "INVALID_OPTION", option });
      await sql`select 1`.execute(trx);
    });
  });
});

describe("names", () => {
  const names = [
    "a ",
    " a",
    "A",
    "\u00E9",
    "e\u0301",
    "\u200B",
    "NULL",
    "null",
    "{}",
    '"',
    "\\",
    "'",
    "$1",
    "a,b",
    "*",
    "~5 x",
    "5 x",
    "cancel 1",
    "\n",
    "\t",
    "__proto__",
    "constructor",
    "%s",
    "\u{1F981}".repeat(50),
  ];
  test("lanes that differ in one character are different, whatever it is, and jobs in them are claimed", async () => {
    for (const lane of names) await queue.enqueue(db, "a", 1, { lane });
    const claimed = await workerOn(db).claim({ limit: 100, lanes: names });
    expect(claimed.map(({ lane }) => lane).sort()).toEqual([...names].sort());
    const { lanes } = await queue.admin(db).health();
    expect(lanes.map(({ lane }) => lane).sort()).toEqual([...names].sort());
    for (const lane of names) await queue.admin(db).pause(lane);
    expect((await queue.admin(db).health()).lanes.every(({ paused }) => paused)).toBe(true);
  });

  test("kinds as well", async () => {
    const jobs = Object.fromEntries(names.filter((name) => name !== "__proto__").map((name) => [name, job()]));
    const many = createQueue({ jobs });
    await many.enqueueMany(
      db,
      Object.keys(jobs).map((kind) => ({ kind, payload: null })),
    );
    const claimed = await workerOn(db).claim({ limit: 100, kinds: Object.keys(jobs) });
    expect(claimed.map(({ kind }) => kind).sort()).toEqual(Object.keys(jobs).sort());
  });
});
