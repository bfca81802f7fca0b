import { createWorkerStatements } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import { expect, test } from "vitest";
const database = useTestDatabase();
test("late workers that register at the same moment do not deadlock", async () => {
  const { registerWorker } = createWorkerStatements("queue");
  const pool = database.newPool({ max: 8 });
  const failures: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async (_, n) => {
      for (let round = 0; round < 400; round++) {
        // Late: each is out of date at the next call, as when the machine is busy for three heartbeats.
        await pool
          .query(registerWorker.sql, [
            ...registerWorker.bind({ worker: `w${n}`, kinds: "{a}", lanes: null, host: "h", pid: 1, expiresInMs: 0 }),
          ])
          .catch((error: { code: string }) => failures.push(error.code));
      }
    }),
  );
  await pool.end();
  expect(failures).toEqual([]);
});
