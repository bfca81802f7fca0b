import type { AdapterDatabase } from "@queue/core/adapter";
import type { Database } from "../database/database.js";
import type { Logger } from "../logger.js";
import type { Clock } from "../time/clock.js";
import { measurePool } from "./measure-pool.js";

export interface TransactionLimitOptions {
  readonly db: AdapterDatabase<unknown>;
  readonly database: Database;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The worker stops. */
  readonly stopped: Promise<void>;
}

/** Connections that transactional handlers leave to the worker itself. */
const reservedConnections = 2;

/**
 * How many transactional handlers may run at the same time, so that the worker's own statements still find a connection. A
 * pool that is too small for the worker's `concurrency` is named.
 */
export async function transactionLimit({ db, database, concurrency, clock, logger, stopped }: TransactionLimitOptions): Promise<number> {
  if (database.hasOneConnection) return 1;
  const wanted = concurrency + reservedConnections;
  const connections = await measurePool(db, wanted, clock, stopped);
  if (connections === undefined) return 1;
  const limit = Math.max(1, connections - reservedConnections);
  if (connections < wanted) {
    logger.warn(
      { connections, wanted },
      `The pool has ${connections} connections. Transactional handlers hold one each, and the worker needs ${reservedConnections}: they run ${limit} at a time. Give the pool at least ${wanted}.`,
    );
  }
  return limit;
}
