import { createQueue, job } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, test } from "vitest";
import { kyselyOn } from "./support/kysely-on.js";
import { workerOn } from "./support/worker-on.js";

const database = useTestDatabase();
const queue = createQueue({ jobs: { a: job<number>() } });

beforeEach(async () => {
  await database.pool.query("truncate queue.jobs");
});

describe("a claim of fewer jobs than are due", () => {
  test("takes those that have been due for the longest, and not those that were enqueued first", async () => {
    const db = kyselyOn(database.pool);
    const worker = workerOn(db);
    const [first, second, third] = await queue.enqueueMany(
      db,
      [1, 2, 3].map((payload) => ({ kind: "a" as const, payload })),
    );
    // A retry of the first is due after the others; the third was to wait, and is the oldest now.
    await database.pool.query(
      `update queue.jobs set run_at = clock_timestamp() - case id when $1 then interval '1 minute' when $2 then interval '2 minutes'
         else interval '3 minutes' end`,
      [first?.id, second?.id],
    );
    const claimed: string[] = [];
    for (let n = 0; n < 3; n++) claimed.push(...(await worker.claim({ limit: 1 })).map(({ id }) => id));
    expect(claimed).toEqual([third?.id, second?.id, first?.id]);
  });
});
