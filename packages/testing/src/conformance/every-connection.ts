import type { AdapterDatabase } from "@queue/core/adapter";

/** Of an ordinary pool. An embedded database has one. */
const poolSize = 10;

/**
 * Runs `statements` on every connection of the pool: in as many transactions as it has connections, each of which waits with its
 * commit until all have begun. So this never ends when a connection has not been given back.
 */
export async function onEveryConnection(db: AdapterDatabase<unknown>, statements: readonly string[]): Promise<void> {
  const count = db.hasOneConnection === true ? 1 : poolSize;
  let begun = 0;
  let allHaveBegun: () => void = () => {};
  const all = new Promise<void>((resolve) => (allHaveBegun = resolve));
  await Promise.all(
    Array.from({ length: count }, () =>
      db.transaction(async (_trx, executor) => {
        for (const sql of statements) await executor.execute({ sql, parameters: [] });
        begun += 1;
        if (begun === count) allHaveBegun();
        await all;
      }),
    ),
  );
}
