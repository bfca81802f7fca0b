import { fromPglite, openPglite } from "@queue/pglite";
import { describeConformance } from "@queue/testing/conformance";
import type { Transaction } from "kysely";

describeConformance<Transaction<unknown>>("@queue/pglite", async () => {
  const { db, listener, pglite, close } = await openPglite<unknown>();
  return {
    db,
    listener,
    inHandler: (trx) => trx,
    executorInTransaction: (fn, { commit }) =>
      pglite.transaction(async (tx) => {
        await fn(fromPglite(tx));
        if (!commit) await tx.rollback();
      }),
    close,
  };
});
