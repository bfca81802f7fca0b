import { createQueue, type InferJob, type Job, job as defineJob, PermanentError, type QueueError } from "@queue/core";
import type { Listener } from "@queue/core/adapter";
import {
  createWorker,
  type HandlerContext,
  type HandlerResult,
  type Logger,
  type OnceResult,
  type Snooze,
  snooze,
  type TransactionalContext,
  type Worker,
  type WorkerEvent,
  type WorkerOptions,
} from "@queue/worker";
import type { Transaction } from "kysely";
import { expectTypeOf, test } from "vitest";
import { db, queue, type ShopDatabase, trx as transaction } from "./shop-queue.js";

declare const listener: Listener;
declare const logger: Logger;

test("a handler's job, context and transaction are inferred, wherever `handlers` stands", () => {
  const worker = createWorker({
    handlers: {
      "order.send-receipt": async (job, ctx) => {
        expectTypeOf(job).toEqualTypeOf<Job<"order.send-receipt", { orderId: string; email: string }>>();
        expectTypeOf(ctx).toEqualTypeOf<HandlerContext>();
        expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
        expectTypeOf(ctx.log).toEqualTypeOf<Logger>();
        expectTypeOf(ctx.idempotencyKey).toEqualTypeOf<string>();
        // @ts-expect-error Property 'trx' does not exist on type 'HandlerContext'
        void ctx.trx;
        if (job.attempt > 3) return snooze("5m");
        return undefined;
      },
      "search.reindex": {
        transactional: true,
        run: async (job, { trx, signal, log }) => {
          expectTypeOf(trx).toEqualTypeOf<Transaction<ShopDatabase>>();
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
          expectTypeOf(log).toEqualTypeOf<Logger>();
          await trx.updateTable("products").set({ indexed_at: new Date() }).where("id", "=", job.payload.productId).execute();
        },
      },
      "order.remind": {
        transactional: true,
        async run(job, ctx) {
          expectTypeOf(job.payload).toEqualTypeOf<{ at: Date; count: number; since?: Date | undefined }>();
          expectTypeOf(ctx).toEqualTypeOf<TransactionalContext<Transaction<ShopDatabase>>>();
        },
      },
      "order.export": (job) => {
        expectTypeOf(job.payload).toEqualTypeOf<{ rows: number; format: string }>();
      },
      "night.cleanup": () => {},
      "search.rebuild": undefined,
    },
    queue,
    db,
    onEvent: (event) => {
      if (event.type === "job.failed") expectTypeOf(event.retryAt).toEqualTypeOf<Date>();
    },
  });
  expectTypeOf(worker).toEqualTypeOf<Worker>();
});

test("a job says all about itself, read-only", () => {
  createWorker({
    queue,
    db,
    handlers: {
      "search.reindex": (job) => {
        expectTypeOf(job).toEqualTypeOf<InferJob<typeof queue, "search.reindex">>();
        expectTypeOf(job.id).toEqualTypeOf<string>();
        expectTypeOf(job.kind).toEqualTypeOf<"search.reindex">();
        expectTypeOf(job.attempt).toEqualTypeOf<number>();
        expectTypeOf(job.maxAttempts).toEqualTypeOf<number>();
        expectTypeOf(job.lane).toEqualTypeOf<string>();
        expectTypeOf(job.key).toEqualTypeOf<string | null>();
        expectTypeOf(job.createdAt).toEqualTypeOf<Date>();
        expectTypeOf(job.runAt).toEqualTypeOf<Date>();
        // @ts-expect-error Cannot assign to 'attempt' because it is a read-only property
        job.attempt = 1;
      },
      "night.cleanup": (job) => void expectTypeOf(job.payload).toEqualTypeOf<null>(),
    },
  });
});

test("a handler for a kind that the queue does not have is an error, on its name", () => {
  createWorker({
    queue,
    db,
    handlers: {
      "search.reindex": async () => {},
      // @ts-expect-error '"search.reindexx"' does not exist in type 'HandlersIn<…>'
      "search.reindexx": async () => {},
    },
  });
});

test("what is no handler is an error, on the handler", () => {
  createWorker({
    queue,
    db,
    handlers: {
      // @ts-expect-error Property 'run' is missing
      "search.reindex": { transactional: true },
      // @ts-expect-error Type 'Promise<PermanentError>' is not assignable to … HandlerResult: returned, not thrown
      "night.cleanup": async () => new PermanentError("returned, not thrown"),
      // @ts-expect-error a result that nobody stores
      "search.rebuild": async (job) => job.payload.index,
      "order.remind": {
        transactional: true,
        // @ts-expect-error 'product' is not a table
        run: async (_job, { trx }) => void (await trx.updateTable("product").execute()),
      },
      // @ts-expect-error transactional: false is a plain handler, which is a function
      "order.export": { transactional: false, run: async () => {} },
    },
  });
  createWorker({
    queue,
    db,
    handlers: {
      // @ts-expect-error Type '"5 minutes"' is not assignable to type 'Duration'
      "night.cleanup": () => snooze("5 minutes"),
    },
  });
});

test("results are nothing, or a snooze", () => {
  expectTypeOf<HandlerResult>().toEqualTypeOf<void | Snooze>();
  expectTypeOf(snooze("5m")).toEqualTypeOf<Snooze>();
  expectTypeOf(snooze(250)).toEqualTypeOf<Snooze>();
});

test("once gives back what ran, and says whether it did", () => {
  createWorker({
    queue,
    db,
    handlers: {
      "night.cleanup": async (_job, { once }) => {
        const sent = await once("mail", () => 42);
        expectTypeOf(sent).toEqualTypeOf<OnceResult<number>>();
        if (sent.ran) expectTypeOf(sent.value).toEqualTypeOf<number>();
        // @ts-expect-error Property 'value' does not exist on type '{ readonly ran: false; }'
        else void sent.value;
        expectTypeOf(await once("mail", async (signal) => signal.aborted)).toEqualTypeOf<OnceResult<boolean>>();
        await once("mail", () => {}, { scope: "kind", onUnknown: "dead" });
        await once("mail", () => {}, { scope: undefined, onUnknown: undefined });
        // @ts-expect-error Type '"queue"' is not assignable to type '"job" | "kind" | undefined'
        await once("mail", () => {}, { scope: "queue" });
        // @ts-expect-error Type '"retry"' is not assignable to type '"skip" | "run" | "dead" | undefined'
        await once("mail", () => {}, { onUnknown: "retry" });
      },
    },
  });
});

test("db is a Kysely, and not a Transaction", () => {
  // @ts-expect-error db must be a Kysely, not a Transaction: the worker begins its own
  createWorker({ queue, db: transaction, handlers: {} });
  // @ts-expect-error nor a connection string
  createWorker({ queue, db: "postgres://localhost", handlers: {} });
  // @ts-expect-error nor nothing
  createWorker({ queue, handlers: {} });
});

test("every option may be left out, or be undefined", () => {
  createWorker({ queue, db, handlers: {} });
  createWorker({
    queue,
    db,
    handlers: {},
    listener: undefined,
    lanes: undefined,
    concurrency: undefined,
    lease: undefined,
    heartbeat: undefined,
    pollInterval: undefined,
    sweepInterval: undefined,
    shutdownGrace: undefined,
    logger: undefined,
    onEvent: undefined,
  });
  createWorker({
    queue,
    db,
    handlers: {},
    listener,
    concurrency: 20,
    lease: "30s",
    heartbeat: 10_000,
    pollInterval: "1s",
    sweepInterval: "5s",
    shutdownGrace: "0ms",
    logger,
    onEvent: () => {},
  });
  createWorker({ queue, db, handlers: {}, lanes: ["mail"] });
  createWorker({ queue, db, handlers: {}, lanes: { mail: { concurrency: 5 } } });
});

test("a wrong option is an error, on the option", () => {
  // @ts-expect-error Type '"30 seconds"' is not assignable to type 'Duration | undefined'
  createWorker({ queue, db, handlers: {}, lease: "30 seconds" });
  // @ts-expect-error 'pollIntervall' does not exist … Did you mean to write 'pollInterval'?
  createWorker({ queue, db, handlers: {}, pollIntervall: "1s" });
  // @ts-expect-error Type 'string' is not assignable to type …
  createWorker({ queue, db, handlers: {}, lanes: "mail" });
  // @ts-expect-error Property 'concurrency' is missing in type '{}'
  createWorker({ queue, db, handlers: {}, lanes: { mail: {} } });
  // @ts-expect-error Property 'listen' is missing
  createWorker({ queue, db, handlers: {}, listener: { adapter: "own" } });
  // @ts-expect-error Property 'debug' is missing
  createWorker({ queue, db, handlers: {}, logger: { info: () => {}, warn: () => {}, error: () => {} } });
});

test("queues of any schema fit", () => {
  const elsewhere = createQueue({ schema: "background", jobs: { a: defineJob<{ x: 1 }>() } });
  createWorker({ queue: elsewhere, db, handlers: { a: ({ payload }) => void expectTypeOf(payload.x).toEqualTypeOf<1>() } });
  expectTypeOf<WorkerOptions<typeof elsewhere.jobs, typeof db>["queue"]>().toEqualTypeOf<{
    readonly jobs: typeof elsewhere.jobs;
    readonly schema: string;
  }>();
});

test("a worker is started, stopped, run, and disposed of", () => {
  const worker = {} as Worker;
  expectTypeOf(worker.start).toEqualTypeOf<() => Promise<void>>();
  expectTypeOf(worker.run).toEqualTypeOf<() => Promise<void>>();
  expectTypeOf(worker.runUntilIdle).toEqualTypeOf<() => Promise<void>>();
  expectTypeOf(worker.stop()).toEqualTypeOf<Promise<void>>();
  void worker.stop({ grace: "30s" });
  void worker.stop({ grace: undefined });
  // @ts-expect-error Type '"soon"' is not assignable to type 'Duration | undefined'
  void worker.stop({ grace: "soon" });
  expectTypeOf(worker).toExtend<AsyncDisposable>();
});

test("events are told apart by their type", () => {
  const tell = (event: WorkerEvent): string => {
    switch (event.type) {
      case "job.started":
        expectTypeOf(event.waitedMs).toEqualTypeOf<number>();
        return event.id;
      case "job.completed":
        expectTypeOf(event.durationMs).toEqualTypeOf<number>();
        return event.kind;
      case "job.failed":
        expectTypeOf(event.error).toEqualTypeOf<unknown>();
        expectTypeOf(event.retryAt).toEqualTypeOf<Date>();
        return event.lane;
      case "job.dead":
        expectTypeOf(event.error).toEqualTypeOf<unknown>();
        return event.id;
      case "job.snoozed":
        expectTypeOf(event.runAt).toEqualTypeOf<Date>();
        return event.id;
      case "job.lease-lost":
      case "worker.error":
        expectTypeOf(event.error).toEqualTypeOf<QueueError>();
        return event.error.code;
      case "job.cancelled":
      case "job.released":
        expectTypeOf(event.attempt).toEqualTypeOf<number>();
        return event.id;
      case "worker.started":
      case "worker.stopped":
      case "worker.listening":
        return event.worker;
    }
    // Nothing is left: an event that is added is an error here.
    return event satisfies never;
  };
  createWorker({ queue, db, handlers: {}, onEvent: tell });
  // @ts-expect-error Property 'payload' does not exist: it is never told
  createWorker({ queue, db, handlers: {}, onEvent: (event) => event.payload });
});
