import { expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { shortLease, useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();

test("a fault costs no attempt of a transactional job whose handler still waited for a connection", async () => {
  const options = { ...shortLease, concurrency: 20 };
  const frozen = await e2e.startWork({ options });
  await queue.enqueueMany(
    e2e.db,
    Array.from({ length: 20 }, (_, n) => ({ kind: "enter", payload: { entry: `${n}`, ms: 2_000 } }) as const),
  );
  // Its pool has ten connections: eight handlers begin, and the others wait, claimed or not.
  await frozen.until("handling", {}, 8);
  frozen.signal("SIGSTOP");
  const other = await e2e.startWork({ options });
  await e2e.sqlUntil("select from queue.all_jobs where status = 'done' having count(*) = 20");
  const started = [...frozen.of("handling"), ...other.of("handling")];
  const spent = await e2e.sql<{ id: string; attempts: number }>("select id::text, attempts from queue.all_jobs order by id");
  expect(spent).toEqual(spent.map(({ id }) => ({ id, attempts: started.filter((one) => one["id"] === id).length })));
});
