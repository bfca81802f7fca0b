import { useTestDatabase } from "@queue/test-database";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";
import { line, workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
let worker: ReturnType<typeof workerOn>;

beforeAll(() => {
  worker = workerOn(kyselyOn(database.pool));
});

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs, queue.lanes");
});

/** 2026-01-01T00:00:00Z, in microseconds since 1970. */
const base = 1_767_225_600_000_000;

/** Jobs with these ids, each due so many microseconds after `base`. */
async function insert(jobs: Readonly<Record<string, number>>, lane = "default", priority = 5): Promise<void> {
  for (const [id, offset] of Object.entries(jobs)) {
    await database.pool.query(
      `insert into queue.jobs (id, kind, lane, priority, run_at)
       values ($1, 'a', $2, $3, timestamptz 'epoch' + $4::int8 * interval '1 microsecond')`,
      [id, lane, priority, base + offset],
    );
  }
}

/** The ids that a claim takes which begins at `since`, in the order of the line. */
async function claimFrom(since: string | null, since_id = "0", take = 10): Promise<string[]> {
  const claimed = await worker.claim({ limit: take, groups: [{ take, lines: [line("default", 5, since, since_id)] }] });
  return claimed.toSorted((a, b) => Number(a.run_at) - Number(b.run_at) || Number(a.id) - Number(b.id)).map(({ id }) => id);
}

describe("a claim with a cursor", () => {
  test("takes what is due at its microsecond or later, and leaves what is due a microsecond earlier", async () => {
    await insert({ 1: -1, 2: 0, 3: 1, 4: 1_000_000 });
    expect(await claimFrom(String(base))).toEqual(["2", "3", "4"]);
    expect(await claimFrom(String(base))).toEqual([]);
    expect(await claimFrom(String(base - 1))).toEqual(["1"]);
  });

  test("begins among jobs that are due at the same microsecond at its id, and takes all ids of later ones", async () => {
    await insert({ 10: 0, 20: 0, 30: 0, 5: 1, 40: -1 });
    expect(await claimFrom(String(base), "20")).toEqual(["20", "30", "5"]);
    expect(await claimFrom(String(base), "11")).toEqual([]);
    expect(await claimFrom(String(base))).toEqual(["10"]);
  });

  test("compares ids as numbers, also beyond what a number can be exact", async () => {
    await insert({ "9": 0, "10": 0, "9007199254740993": 0, "9007199254740992": 0 });
    expect(await claimFrom(String(base), "9007199254740993")).toEqual(["9007199254740993"]);
    expect(await claimFrom(String(base), "10")).toEqual(["10", "9007199254740992"]);
  });

  test("goes on through jobs that are due at the same microsecond, in steps, without a gap and without any twice", async () => {
    await database.pool.query(
      "insert into queue.jobs (kind, run_at) select 'a', timestamptz 'epoch' + $1::int8 * interval '1 microsecond' from generate_series(1, 50)",
      [base],
    );
    const all: string[] = [];
    let place: { since: string | null; id: string } = { since: null, id: "0" };
    for (;;) {
      const ids = await claimFrom(place.since, place.id, 7);
      all.push(...ids);
      const last = ids.at(-1);
      if (last === undefined) break;
      place = { since: String(base), id: last };
    }
    expect(all).toHaveLength(50);
    expect(new Set(all).size).toBe(50);
  });

  test("reads from the beginning without one, whenever jobs are due, and from any moment that can be said", async () => {
    await database.pool.query(
      `insert into queue.jobs (id, kind, run_at) values (1, 'a', '0001-01-01'), (2, 'a', '1969-12-31 23:59:59.999999Z'),
         (3, 'a', '1970-01-01Z'), (4, 'a', '4713-01-01 BC')`,
    );
    expect(await claimFrom("-1")).toEqual(["2", "3"]);
    expect((await claimFrom(null)).toSorted()).toEqual(["1", "4"]);
  });

  test("has one for each line, which is not mixed up with those of others", async () => {
    await insert({ 1: 0, 2: 10 }, "x", 5);
    await insert({ 3: 0, 4: 10 }, "x", 1);
    await insert({ 5: 0, 6: 10 }, "y", 5);
    const claimed = await worker.claim({
      groups: [
        { take: 10, lines: [line("x", 5, String(base + 5)), line("x", 1)] },
        { take: 10, lines: [line("y", 5, String(base), "6")] },
      ],
    });
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(["2", "3", "4", "6"]);
  });

  test("takes nothing that is not due, wherever it begins", async () => {
    await database.pool.query("insert into queue.jobs (kind, run_at) values ('a', now() + interval '1 hour')");
    expect(await claimFrom(String(base))).toEqual([]);
    expect(await claimFrom(String((Date.now() + 7_200_000) * 1_000))).toEqual([]);
  });

  test("passes over what others have locked, and finds it from the same place when they have rolled back", async () => {
    await insert({ 1: 0, 2: 0, 3: 0 });
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select from queue.jobs where id = 2 for update");
    expect(await claimFrom(String(base), "1")).toEqual(["1", "3"]);
    await session.query("rollback");
    expect(await claimFrom(String(base), "1")).toEqual(["2"]);
  });
});
