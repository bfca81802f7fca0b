import type { AdapterDatabase } from "@queue/core/adapter";
import type { Clock } from "../time/clock.js";

/** A pool that has handed out nothing for so long has no more. */
const patienceMs = 2_000;

/**
 * How many connections the pool hands out at the same time, up to `wanted`. Transactional handlers that hold them all would
 * keep the worker's own statements waiting, so it has to know; and no pool says it in a way that is common to all.
 *
 * `stopped`: nobody wants to know any more. Then it resolves, with undefined, when all is given back: whoever stops a worker may end the
 * pool next, and one that has handed something out may not end.
 */
export async function measurePool(
  db: AdapterDatabase<unknown>,
  wanted: number,
  clock: Clock,
  stopped: Promise<void>,
): Promise<number | undefined> {
  let held = 0;
  let giveBack = () => {};
  const over = new Promise<void>((resolve) => {
    giveBack = resolve;
  });
  let isOver = false;
  let isStopped = false;
  let holders: readonly Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    let cancel = clock.after(patienceMs, resolve);
    void stopped.then(() => {
      isStopped = true;
      cancel();
      resolve();
    });
    holders = Array.from({ length: wanted }, () =>
      db
        .transaction(async (_trx, executor) => {
          // A pooler between gives a connection to a statement, and keeps it for a transaction.
          await executor.execute({ sql: "select 1 as ok", parameters: [] });
          if (isOver) return;
          held += 1;
          cancel();
          if (held === wanted) resolve();
          else cancel = clock.after(patienceMs, resolve);
          await over;
        })
        // A pool that times out waiting for a connection has said how many it has.
        .catch(() => resolve()),
    );
  });
  isOver = true;
  giveBack();
  if (!isStopped) return held;
  await Promise.allSettled(holders);
  return undefined;
}
