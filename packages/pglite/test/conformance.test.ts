import { describeConformance } from "@queue/conformance";
import { fromPglite, openPglite } from "@queue/pglite";

describeConformance("@queue/pglite", async () => {
  const { db, listener, pglite, close } = await openPglite<unknown>();
  return {
    db,
    listener,
    executorInTransaction: (fn, { commit }) =>
      pglite.transaction(async (tx) => {
        await fn(fromPglite(tx));
        if (!commit) await tx.rollback();
      }),
    close,
  };
});
