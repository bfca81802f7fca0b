import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { openSession } from "./support/session.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });

describe("a dead letter that another transaction has locked", () => {
  test("is left out by a redrive of many, which waits for nobody, and comes back by the next one", async () => {
    const db = kyselyOn(database.pool);
    const admin = queue.admin(db);
    const dead = await queue.enqueueMany(
      db,
      [1, 2, 3].map((payload) => ({ kind: "a" as const, payload })),
    );
    await database.pool.query("update queue.jobs set status = 'dead'");
    const locked = dead[1]?.id ?? "";
    await using session = await openSession(database.url);
    await session.query("begin");
    await session.query("select from queue.jobs where id = $1 for update", [locked]);
    expect(await admin.redrive({ kind: "a" })).toEqual({ count: 2, dryRun: false, conflicts: [] });
    expect(await admin.job(locked)).toMatchObject({ status: "dead" });
    await session.query("commit");
    expect(await admin.redrive({ kind: "a" })).toEqual({ count: 1, dryRun: false, conflicts: [] });
    expect(await admin.job(locked)).toMatchObject({ status: "queued", redrives: 1 });
  });
});
