import { queue } from "./e2e-queue.js";
import { openDatabase } from "./open-database.js";
import { report } from "./report.js";

/** How a test wants this process to be. */
export interface ProduceSettings {
  readonly url: string;
  /** The beginning of its entries. */
  readonly name: string;
  readonly transactions: number;
}

class ChangedItsMind extends Error {}

/** Business transactions, each with an order and its job. Every third is rolled back. */
async function produce({ url, name, transactions }: ProduceSettings): Promise<void> {
  const { db } = openDatabase(url, 4);
  for (let n = 0; n < transactions; n++) {
    const entry = `${name}-${n}`;
    try {
      await db.transaction().execute(async (trx) => {
        await trx.insertInto("orders").values({ entry }).execute();
        await queue.enqueue(trx, "enter", { entry, ms: n % 5 }, { key: entry });
        if (n % 3 === 2) throw new ChangedItsMind();
      });
    } catch (error) {
      if (!(error instanceof ChangedItsMind)) throw error;
    }
  }
  report("produced", { transactions });
  await db.destroy();
}

await produce(JSON.parse(process.env["E2E_PRODUCE"] ?? "{}") as ProduceSettings);
