import { type ExecutableQuery, type Executor, hasMethods, queueError, showGiven } from "@queue/core/adapter";
import { scopeOf } from "./scope-of.js";

/** The client of an interactive transaction, of whatever schema and extensions: by shape. Only a `PrismaClient` has `$connect`. */
export interface PrismaTransaction {
  $queryRawUnsafe<T = unknown>(query: string, ...values: unknown[]): PromiseLike<T>;
  readonly $connect?: undefined;
}

/**
 * What a queue writes through, made of the client of an interactive transaction: a job that is enqueued through it runs if,
 * and only if, that transaction commits. A nested `tx.$transaction(…)` is a savepoint: its jobs go when it is rolled back.
 *
 * A `PrismaClient` is refused, by the compiler and at run time: each of its statements takes any connection, so the job would
 * be committed on its own.
 *
 * @throws QueueError `INVALID_OPTION` when `tx` is a `PrismaClient`, or none of Prisma's at all
 * @example
 * await prisma.$transaction(async (tx) => {
 *   const order = await tx.order.create({ data });
 *   await queue.enqueue(fromPrisma(tx), "order.send-receipt", { orderId: order.id });
 * });
 */
export function fromPrisma(tx: PrismaTransaction): Executor {
  refuseOtherThanTransaction(tx);
  return {
    adapter: "prisma",
    scope: scopeOf(tx),
    async execute<R>({ sql, parameters }: ExecutableQuery): Promise<{ rows: R[] }> {
      return { rows: await tx.$queryRawUnsafe<R[]>(sql, ...parameters) };
    },
  };
}

function refuseOtherThanTransaction(tx: unknown): void {
  if (hasMethods(tx, "$connect")) {
    throw invalid(
      "fromPrisma takes the client of an interactive transaction, but was given a PrismaClient. Each of its statements takes any connection, so the job would not be in your transaction. Give it the tx of `prisma.$transaction(async (tx) => …)`.",
    );
  }
  if (!hasMethods(tx, "$queryRawUnsafe")) {
    throw invalid(`fromPrisma takes the tx of prisma.$transaction(async (tx) => …), but was given ${showGiven(tx)}.`);
  }
}

function invalid(message: string): Error {
  return queueError("INVALID_OPTION", message, { option: "tx" });
}
