import {
  createQueue,
  type EnqueueOptions,
  type EnqueueResult,
  type InferItem,
  type InferKind,
  type InferPayloadInput,
  job,
} from "@queue/core";
import { describe, expectTypeOf, test } from "vitest";
import { shopQueue, trx } from "./shop-queue.js";

const email = "someone@example.com";

describe("enqueue", () => {
  test("resolves to the id, a string, and whether a job was inserted", () => {
    const result = shopQueue.enqueue(
      trx,
      "order.send-receipt",
      { orderId: "1", email },
      { key: "k", delay: "10m", priority: 2, maxAttempts: 3, lane: "mail" },
    );
    expectTypeOf(result).resolves.toEqualTypeOf<EnqueueResult>();
    expectTypeOf<EnqueueResult>().toEqualTypeOf<{ readonly id: string; readonly inserted: boolean }>();
  });

  test("takes the schema's input: text for a date, and defaults left out", () => {
    void shopQueue.enqueue(trx, "order.remind", { at: "2026-01-01T00:00:00Z" });
    void shopQueue.enqueue(trx, "order.export", { rows: "3" });
    void shopQueue.enqueue(trx, "night.cleanup", null);
    // @ts-expect-error the output type, given where the input type belongs
    void shopQueue.enqueue(trx, "order.remind", { at: new Date() });
    // @ts-expect-error the output type again
    void shopQueue.enqueue(trx, "order.export", { rows: 3 });
    // @ts-expect-error this kind has no payload
    void shopQueue.enqueue(trx, "night.cleanup", {});
  });

  test("marks an unknown kind and a wrong payload", () => {
    // @ts-expect-error '"order.sendreceipt"' is not assignable to parameter of type '"order.send-receipt" | …'
    void shopQueue.enqueue(trx, "order.sendreceipt", { orderId: "1", email });
    // @ts-expect-error Property 'email' is missing
    void shopQueue.enqueue(trx, "order.send-receipt", { orderId: "1" });
    // @ts-expect-error 'number' is not assignable to type 'string'
    void shopQueue.enqueue(trx, "order.send-receipt", { orderId: 1, email });
    // @ts-expect-error 'extra' does not exist
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1", extra: 1 });
    // @ts-expect-error the payload is missing
    void shopQueue.enqueue(trx, "search.reindex");
  });

  test("takes every option as undefined, and no other", () => {
    const maybeKey = undefined as string | undefined;
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { key: maybeKey, keyHolds: "until-started", runAt: new Date() });
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { key: "k", keyHolds: "until-ended" });
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { key: "k", keyHolds: "30d", delay: 1_500 });
    expectTypeOf<{ [K in keyof Required<EnqueueOptions>]: undefined }>().toExtend<EnqueueOptions>();
    // @ts-expect-error '"10 min"' is not assignable to type 'Duration | undefined'
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { delay: "10 min" });
    // @ts-expect-error a text is no Date
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { runAt: "2026-01-01T00:00:00Z" });
    // @ts-expect-error not one of the ways to hold a key
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { key: "k", keyHolds: "until-done" });
    // @ts-expect-error no such option
    void shopQueue.enqueue(trx, "search.reindex", { productId: "1" }, { uniqueKey: "k" });
  });

  test("keeps the literals of a payload, also when it is no object", () => {
    const literals = createQueue({
      jobs: { "a.b": job<{ mode: "fast" | "slow"; tuple: [number, "x"]; nested: { on: true }[] }>(), "c.d": job<"x" | "y">() },
    });
    void literals.enqueue(trx, "a.b", { mode: "fast", tuple: [1, "x"], nested: [{ on: true }] });
    void literals.enqueue(trx, "c.d", "x");
    // @ts-expect-error '"medium"' is not assignable to type '"fast" | "slow"'
    void literals.enqueue(trx, "a.b", { mode: "medium", tuple: [1, "x"], nested: [] });
    // @ts-expect-error '"z"' is not assignable to type '"x" | "y"'
    void literals.enqueue(trx, "c.d", "z");
  });

  test("can be wrapped in a generic function", () => {
    const enqueueFirst = <K extends InferKind<typeof shopQueue>>(
      kind: K,
      payload: InferPayloadInput<typeof shopQueue, K>,
      options?: EnqueueOptions,
    ) => shopQueue.enqueue(trx, kind, payload, { ...options, priority: 1 });
    expectTypeOf(enqueueFirst("search.reindex", { productId: "p1" })).resolves.toEqualTypeOf<EnqueueResult>();
    // @ts-expect-error the payload of another kind
    void enqueueFirst("search.reindex", { index: "i" });
  });
});

describe("enqueueMany", () => {
  test("resolves to a result for each item", () => {
    const results = shopQueue.enqueueMany(trx, [
      { kind: "search.reindex", payload: { productId: "p1" }, options: { key: "p1" } },
      { kind: "order.send-receipt", payload: { orderId: "1", email }, options: undefined },
    ]);
    expectTypeOf(results).resolves.toEqualTypeOf<EnqueueResult[]>();
  });

  test("needs no `as const` in a map, and takes a list that grew elsewhere", () => {
    const products: readonly { id: string }[] = [];
    void shopQueue.enqueueMany(
      trx,
      products.map((product) => ({ kind: "search.reindex", payload: { productId: product.id } })),
    );
    const items: InferItem<typeof shopQueue>[] = [];
    items.push({ kind: "night.cleanup", payload: null });
    void shopQueue.enqueueMany(trx, items);
    void shopQueue.enqueueMany(trx, Object.freeze(items));
  });

  test("marks a mistake in its own item", () => {
    void shopQueue.enqueueMany(trx, [
      { kind: "search.reindex", payload: { productId: "p1" } },
      // @ts-expect-error 'number' is not assignable to type 'string'
      { kind: "search.reindex", payload: { productId: 1 } },
      // @ts-expect-error no such kind
      { kind: "search.reindexx", payload: { productId: "1" } },
      // @ts-expect-error Property 'email' is missing
      { kind: "order.send-receipt", payload: { orderId: "1" } },
      // @ts-expect-error the payload of another kind
      { kind: "search.rebuild", payload: { productId: "1" } },
      // @ts-expect-error '"10 min"' is not assignable to type 'Duration | undefined'
      { kind: "search.reindex", payload: { productId: "1" }, options: { delay: "10 min" } },
    ]);
  });
});
