import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<{ at: string }>() } });
const oids = { int8: 20, jsonb: 3802, timestamptz: 1184, timestamp: 1114, int2: 21, int4: 23, bool: 16, text: 25 } as const;

/** Parsers that an application may have, none of them what we would choose. */
const parserSets: [name: string, parsers: Partial<Record<keyof typeof oids, (text: string) => unknown>>][] = [
  ["rounds ids to numbers", { int8: (text) => Number.parseInt(text, 10) }],
  ["gives bigints", { int8: BigInt, int4: BigInt, int2: BigInt }],
  ["leaves everything as text", { int8: String, jsonb: String, timestamptz: String, timestamp: String, int2: String, int4: String }],
  ["gives instants of another class", { timestamptz: (text) => ({ epochNanoseconds: text }), jsonb: (text) => ({ raw: text }) }],
];

describe.each(parserSets)("a pool that %s", (_name, parsers) => {
  const byOid = new Map(Object.entries(parsers).map(([type, parse]) => [oids[type as keyof typeof oids] as number, parse]));
  const types: pg.CustomTypesConfig = {
    getTypeParser: ((oid: number, format: "text" | "binary") =>
      byOid.get(oid) ?? pg.types.getTypeParser(oid, format)) as pg.CustomTypesConfig["getTypeParser"],
  };

  beforeAll(async () => {
    await database.pool.query("truncate queue.jobs, queue.job_keys");
    await database.pool.query("alter sequence queue.jobs_id_seq restart with 9007199254740993");
  });

  test("B11, B12: ids above 2^53 are exact, and the whole life of a job is as ever", async () => {
    const db = kyselyOn(database.newPool({ types, max: 1 }));
    const first = await queue.enqueue(db, "a", { at: "1" }, { key: "k" });
    const [second] = await queue.enqueueMany(db, [{ kind: "a", payload: { at: "2" } }]);
    expect([first, second]).toEqual([
      { id: "9007199254740993", inserted: true },
      { id: "9007199254740994", inserted: true },
    ]);
    expect(await queue.enqueue(db, "a", { at: "1" }, { key: "k" })).toEqual({ id: "9007199254740993", inserted: false });

    const worker = workerOn(db);
    const claimed = (await worker.claim()).sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    expect(claimed.map(({ id, payload }) => [id, payload])).toEqual([
      ["9007199254740993", '{"at": "1"}'],
      ["9007199254740994", '{"at": "2"}'],
    ]);
    const [done, failed] = claimed.map(({ id, claims }) => ({ id, claims: Number(claims) }));
    if (done === undefined || failed === undefined) throw new Error("Two jobs were enqueued.");
    expect(await worker.extend([done, failed])).toEqual([
      { id: done.id, extended: true, held: true },
      { id: failed.id, extended: true, held: true },
    ]);
    expect(await worker.complete([done])).toEqual([done.id]);
    const error = { name: "Error", message: "no" };
    expect(await worker.requeue({ [failed.id]: { fence: failed.claims, status: "dead", delayMs: 0, attemptsBack: 0, error } })).toEqual([
      failed.id,
    ]);

    const admin = queue.admin(db);
    const record = await admin.job(failed.id);
    expect(record).toMatchObject({
      id: "9007199254740994",
      status: "dead",
      attempts: 1,
      maxAttempts: 8,
      priority: 5,
      redrives: 0,
      payload: { at: "2" },
      errors: [{ attempt: 1, at: expect.any(Date), message: "no", name: "Error", worker: "w1", stack: null }],
      createdAt: expect.any(Date),
      runAt: expect.any(Date),
      finishedAt: expect.any(Date),
    });
    expect(await admin.job(done.id)).toMatchObject({ status: "done", payload: { at: "1" } });
    expect((await admin.jobs()).items.map(({ id }) => id)).toEqual(["9007199254740994", "9007199254740993"]);
    expect(await admin.redrive({ all: true })).toEqual({ count: 1, dryRun: false, conflicts: [] });
    expect((await admin.cancel(failed.id)).status).toBe("cancelled");
    expect(await admin.job(done.id)).toMatchObject({ status: "done" });
    const health = await admin.health();
    expect(health).toMatchObject({ deadTuples: expect.any(Number), kindsWithoutWorker: [] });
    expect((await worker.lookAhead())[0]).toBeUndefined();
    expect(await worker.deleteEnded()).toMatchObject({ keys: "0" });
    await database.pool.query("delete from queue.jobs_archive");
  });
});

test("B12: importing the package changes no parser of the driver, and no global", async () => {
  // The package is imported above; these are the defaults of pg.
  expect(pg.types.getTypeParser(oids.int8)("1")).toBe("1");
  expect(pg.types.getTypeParser(oids.timestamptz)("2026-01-01 00:00:00+00")).toEqual(new Date(Date.UTC(2026, 0)));
  expect(pg.types.getTypeParser(oids.jsonb)('{"a":1}')).toEqual({ a: 1 });
  expect(pg.defaults.parseInt8).toBeFalsy();
});
