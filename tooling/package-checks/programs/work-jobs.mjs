import { createQueue, job } from "@queue/core";
import { migrate } from "@queue/core/migrations";
import { createWorker } from "@queue/worker";

/**
 * What every program here does: enqueue in a transaction that commits and in one that does not, work the job, enqueue another while
 * the worker sleeps, stop. `begin(body, { commit })` runs `body(executor)` in a transaction of the library that is tried.
 */
export async function workJobs({ db, listener, begin, schema = process.argv[2] }) {
  const queue = createQueue({ schema, jobs: { "order.ship": job() } });
  await migrate(db, queue);
  const enqueue = (orderId, commit) =>
    begin((executor) => queue.enqueue(executor, "order.ship", { orderId }, { key: orderId }), { commit });
  await enqueue("first", true);
  await enqueue("rolled back", false);

  const worked = [];
  let wake = () => {};
  const until = async (count) => {
    while (worked.length < count) await new Promise((resolve) => (wake = resolve));
  };
  const handler = async ({ payload }, { trx }) => {
    if (trx === undefined) throw new Error("A transactional handler has no transaction.");
    worked.push(payload.orderId);
    wake();
  };
  const worker = createWorker({ queue, db, listener, handlers: { "order.ship": { transactional: true, run: handler } } });
  await worker.start();
  await until(1);
  await enqueue("second", true);
  await until(2);
  await worker.stop();

  if (worked.join() !== "first,second") throw new Error(`Worked were: ${worked.join()}`);
  const { items } = await queue.admin(db).jobs({ kind: "order.ship", status: "done" });
  if (items.length !== 2) throw new Error(`${items.length} jobs are done, and not 2.`);
}

/** For `begin`: a transaction of a callback that ends without a commit. */
export const rolledBack = new Error("rolled back on purpose");

/** Waits for a transaction that is to be rolled back by {@link rolledBack}. */
export async function orRolledBack(transaction) {
  await transaction.catch((error) => {
    if (error !== rolledBack) throw error;
  });
}
