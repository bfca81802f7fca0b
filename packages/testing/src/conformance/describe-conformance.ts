import { describe } from "vitest";
import type { Adapter } from "./adapter.js";
import { describeAttempts } from "./describe-attempts.js";
import { describeBatches } from "./describe-batches.js";
import { describeDatabases } from "./describe-databases.js";
import { describeKeys } from "./describe-keys.js";
import { describeOperations } from "./describe-operations.js";
import { describePayloads } from "./describe-payloads.js";
import { describeTransactions } from "./describe-transactions.js";
import { describeWaking } from "./describe-waking.js";
import { useSuite } from "./suite.js";

/**
 * What every adapter does the same, as tests against a real database. It uses the public interface only, so that it holds for
 * adapters that others write. `name` is a part of the name of the schema that it makes: at most 50 bytes, and another one for
 * each suite on the same database. The pool of `db` is to have ten connections, unless it has one and says so.
 *
 * @example
 * describeConformance("@queue/pg", async () => ({ db, listener, inHandler, executorInTransaction, close }));
 */
export function describeConformance<TTrx>(name: string, open: () => Promise<Adapter<TTrx>>): void {
  describe(`${name} conforms`, () => {
    const suite = useSuite(name, open);
    describeTransactions(suite);
    describeDatabases(suite);
    describePayloads(suite);
    describeKeys(suite);
    describeBatches(suite);
    describeAttempts(suite);
    describeOperations(suite);
    describeWaking(suite);
  });
}
