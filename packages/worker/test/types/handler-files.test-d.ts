import {
  createWorker,
  type Handler,
  type HandlerContext,
  type Handlers,
  type TransactionalHandler,
  type TransactionalRun,
} from "@queue/worker";
import type { InferJob } from "@queue/core";
import type { Transaction } from "kysely";
import { expectTypeOf, test } from "vitest";
import { db, queue, type ShopDatabase } from "./shop-queue.js";

const sendReceipt: Handler<typeof queue, "order.send-receipt"> = async (job, ctx) => {
  expectTypeOf(job.payload.email).toEqualTypeOf<string>();
  expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
};

const reindex: TransactionalHandler<typeof queue, "search.reindex", typeof db> = {
  transactional: true,
  run: async (job, { trx }) => {
    expectTypeOf(trx).toEqualTypeOf<Transaction<ShopDatabase>>();
    await trx.deleteFrom("products").where("id", "=", job.payload.productId).execute();
  },
};

test("handlers in files of their own fit into a worker, alone and spread", () => {
  const mailHandlers = {
    "order.send-receipt": sendReceipt,
    "night.cleanup": async (job) => void expectTypeOf(job.kind).toEqualTypeOf<"night.cleanup">(),
  } satisfies Handlers<typeof queue, typeof db>;
  createWorker({ queue, db, handlers: { ...mailHandlers, "search.reindex": reindex } });
  expectTypeOf(reindex).toExtend<TransactionalRun<InferJob<typeof queue, "search.reindex">, Transaction<ShopDatabase>>>();
});

test("one handler serves two kinds, and its payload narrows with the kind", () => {
  const either: Handler<typeof queue, "search.reindex" | "search.rebuild"> = async (job) => {
    if (job.kind === "search.rebuild") expectTypeOf(job.payload).toEqualTypeOf<{ index: string }>();
    else expectTypeOf(job.payload).toEqualTypeOf<{ productId: string }>();
  };
  createWorker({ queue, db, lanes: ["mail"], handlers: { "search.reindex": either, "search.rebuild": either } });
});

test("a handler under another kind's name is an error", () => {
  // @ts-expect-error a handler under another kind's name
  createWorker({ queue, db, handlers: { "search.rebuild": sendReceipt } });
  // @ts-expect-error the same for a transactional one
  createWorker({ queue, db, handlers: { "search.rebuild": reindex } });
});

test("a kind that the queue does not have is an error", () => {
  // @ts-expect-error Type '"search.reindexx"' does not satisfy the constraint …
  expectTypeOf<Handler<typeof queue, "search.reindexx">>();
  // @ts-expect-error '"search.reindexx"' does not exist in type 'HandlersIn<…>'
  ({ "search.reindexx": () => {} }) satisfies Handlers<typeof queue, typeof db>;
});
