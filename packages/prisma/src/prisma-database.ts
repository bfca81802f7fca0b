import {
  type AdapterDatabase,
  type ExecutableQuery,
  type Executor,
  hasMethods,
  queueError,
  runToCommit,
  showGiven,
} from "@queue/core/adapter";
import { fromPrisma, type PrismaTransaction } from "./from-prisma.js";
import { scopeOf } from "./scope-of.js";

/** A `PrismaClient`, of whatever schema and extensions, by shape. `TTrx` is its own `Prisma.TransactionClient`. */
export interface PrismaDatabase<TTrx> {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T>;
  $connect(): PromiseLike<void>;
  $transaction<T>(body: (tx: TTrx) => Promise<T>, options?: { maxWait?: number; timeout?: number }): PromiseLike<T>;
}

/**
 * The longest time that a timer takes, almost 25 days. Prisma ends a transaction after 5 seconds and stops waiting for a
 * connection after 2; here the option `timeout` of a kind, the worker's grace and the pool's own limits decide.
 */
const forEverMs = 2 ** 31 - 1;

/**
 * A `PrismaClient` as a worker, `migrate` and `queue.admin` take it. Transactional handlers get the client of the interactive
 * transaction that their completion commits with, typed as the given client types it; commit and rollback are the worker's.
 * Prisma's time limits for transactions do not hold in it, neither the defaults nor `transactionOptions`.
 *
 * @throws QueueError `INVALID_OPTION` when `prisma` is no `PrismaClient`
 * @example createWorker({ queue, db: prismaDatabase(prisma), handlers });
 */
export function prismaDatabase<TTrx extends PrismaTransaction>(prisma: PrismaDatabase<TTrx>): AdapterDatabase<TTrx> {
  if (!hasMethods(prisma, "$transaction", "$connect")) {
    throw queueError(
      "INVALID_OPTION",
      `prismaDatabase takes a PrismaClient, and not the client of a transaction, but was given ${showGiven(prisma)}.`,
      { option: "prisma" },
    );
  }
  return {
    adapter: "prisma",
    scope: scopeOf(prisma),
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      return { rows: await prisma.$queryRawUnsafe<R[]>(sql, ...parameters) };
    },
    transaction: (body) => transact(prisma, body),
  };
}

async function transact<TTrx extends PrismaTransaction, T>(
  prisma: PrismaDatabase<TTrx>,
  body: (trx: TTrx, executor: Executor) => Promise<T>,
): Promise<T> {
  return prisma.$transaction(
    async (tx) => {
      const executor = fromPrisma(tx);
      // Prisma has no option for READ WRITE. Its own for the level would be one more statement.
      await executor.execute({ sql: "set transaction isolation level read committed read write", parameters: [] });
      return runToCommit(executor, (watched) => body(tx, watched));
    },
    { maxWait: forEverMs, timeout: forEverMs },
  );
}
