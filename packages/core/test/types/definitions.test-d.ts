import {
  createQueue,
  type Duration,
  type InferItem,
  type InferJob,
  type InferKind,
  type InferPayload,
  type InferPayloadInput,
  type Job,
  job,
  type JobDefinition,
  type JobOptions,
  type Priority,
} from "@queue/core";
import * as v from "valibot";
import { describe, expectTypeOf, test } from "vitest";
import * as z from "zod";
import type { shopQueue } from "./shop-queue.js";

type Shop = typeof shopQueue;

describe("what is inferred from a definition", () => {
  test("the kinds are the names, as literals", () => {
    expectTypeOf<InferKind<Shop>>().toEqualTypeOf<
      "order.send-receipt" | "order.remind" | "order.export" | "search.reindex" | "search.rebuild" | "night.cleanup"
    >();
  });

  test("a handler gets the output of the schema, enqueue takes its input", () => {
    expectTypeOf<InferPayload<Shop, "order.send-receipt">>().toEqualTypeOf<{ orderId: string; email: string }>();
    expectTypeOf<InferPayloadInput<Shop, "order.send-receipt">>().toEqualTypeOf<{ orderId: string; email: string }>();
    expectTypeOf<InferPayload<Shop, "order.remind">>().toEqualTypeOf<{ at: Date; count: number; since?: Date | undefined }>();
    expectTypeOf<InferPayloadInput<Shop, "order.remind">>().toEqualTypeOf<{ at: string; count?: number | undefined; since?: unknown }>();
    expectTypeOf<InferPayload<Shop, "order.export">>().toEqualTypeOf<{ rows: number; format: string }>();
    expectTypeOf<InferPayloadInput<Shop, "order.export">>().toEqualTypeOf<{ rows: string; format?: string | undefined }>();
  });

  test("without a schema both are the type that was given, or null", () => {
    expectTypeOf<InferPayload<Shop, "search.reindex">>().toEqualTypeOf<{ productId: string }>();
    expectTypeOf<InferPayloadInput<Shop, "search.reindex">>().toEqualTypeOf<{ productId: string }>();
    expectTypeOf<InferPayload<Shop, "search.rebuild">>().toEqualTypeOf<{ index: string }>();
    expectTypeOf<InferPayload<Shop, "night.cleanup">>().toEqualTypeOf<null>();
    expectTypeOf<InferPayloadInput<Shop, "night.cleanup">>().toEqualTypeOf<null>();
  });

  test("a definition carries the two payload types, and nothing of the schema library", () => {
    expectTypeOf<Shop["jobs"]["search.reindex"]>().toEqualTypeOf<JobDefinition<{ productId: string }, { productId: string }>>();
    expectTypeOf<Shop["jobs"]["order.export"]>().toEqualTypeOf<
      JobDefinition<{ rows: string; format?: string | undefined }, { rows: number; format: string }>
    >();
  });

  test("a job over several kinds narrows by its kind", () => {
    expectTypeOf<InferJob<Shop, "search.reindex">>().toEqualTypeOf<Job<"search.reindex", { productId: string }>>();
    const look = (one: InferJob<Shop, "search.reindex" | "search.rebuild">) => {
      if (one.kind === "search.rebuild") expectTypeOf(one.payload).toEqualTypeOf<{ index: string }>();
      else expectTypeOf(one.payload).toEqualTypeOf<{ productId: string }>();
    };
    expectTypeOf(look).toBeFunction();
    expectTypeOf<Job<"a", 1>>().toEqualTypeOf<{
      readonly id: string;
      readonly kind: "a";
      readonly payload: 1;
      readonly lane: string;
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly key: string | null;
      readonly createdAt: Date;
      readonly runAt: Date;
    }>();
  });

  test("an item of a batch pairs each kind with its own payload", () => {
    expectTypeOf<{ kind: "search.reindex"; payload: { productId: string } }>().toExtend<InferItem<Shop>>();
    expectTypeOf<{ kind: "search.reindex"; payload: { index: string } }>().not.toExtend<InferItem<Shop>>();
  });

  test("a kind that is not defined is an error in every helper", () => {
    // @ts-expect-error '"order.sendreceipt"' does not satisfy the constraint
    expectTypeOf<InferPayload<Shop, "order.sendreceipt">>();
    // @ts-expect-error the same
    expectTypeOf<InferPayloadInput<Shop, "order.sendreceipt">>();
    // @ts-expect-error the same
    expectTypeOf<InferJob<Shop, "order.sendreceipt">>();
  });
});

describe("the options of job()", () => {
  test("durations and priorities are checked where they are written", () => {
    expectTypeOf<Duration>().toEqualTypeOf<number | `${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d`>();
    expectTypeOf<Priority>().toEqualTypeOf<0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9>();
    job({ payload: z.object({}), priority: 9, backoff: { base: 250 } });
    job({ backoff: { cap: "1.5h" }, keep: false, timeout: "250ms" });
    // @ts-expect-error '"2 seconds"' is not assignable to type 'Duration | undefined'
    job({ backoff: { base: "2 seconds" } });
    // @ts-expect-error '"30"' has no unit
    job({ timeout: "30" });
    // @ts-expect-error '10' is not assignable to type 'Priority | undefined'
    job<{ a: string }>({ priority: 10 });
    // @ts-expect-error true is no duration: only false means "not at all"
    job({ keep: true });
  });

  test("a slip in a name is an error", () => {
    // @ts-expect-error did you mean to write 'maxAttempts'?
    job({ payload: z.object({}), maxAtempts: 3 });
    // @ts-expect-error the same inside of backoff
    job({ backoff: { bas: "2s" } });
    // @ts-expect-error the same without a schema
    job<{ a: string }>({ lanes: "mail" });
  });

  test("every option may be given as undefined, for code that passes one on", () => {
    const maybe: { lane: string | undefined; keep: Duration | false | undefined } = { lane: undefined, keep: undefined };
    job({ ...maybe, maxAttempts: undefined, backoff: { base: undefined, cap: undefined }, timeout: undefined, priority: undefined });
    expectTypeOf<{ [K in keyof Required<JobOptions>]: undefined }>().toExtend<JobOptions>();
  });

  test("the payload must be a schema", () => {
    // @ts-expect-error 'orderId' does not exist in type 'StandardSchemaV1'
    job({ payload: { orderId: "string" } });
    job<{ a: string }>({ payload: z.object({ a: z.string() }) });
    job<{ a: string }>({ payload: v.object({ a: v.string() }) });
    // @ts-expect-error the schema says another type than the one given
    job<{ a: string }>({ payload: z.object({ a: z.number() }) });
  });
});

test("createQueue keeps the schema's name as a literal, and takes nothing but definitions", () => {
  const elsewhere = createQueue({ schema: "background", jobs: { a: job<{ x: 1 }>() } });
  expectTypeOf(elsewhere.schema).toEqualTypeOf<"background">();
  expectTypeOf<Shop["schema"]>().toEqualTypeOf<"queue">();
  createQueue({ schema: undefined, jobs: {} });
  // @ts-expect-error a kind is made by job()
  createQueue({ jobs: { a: { lane: "mail" } } });
  // @ts-expect-error jobs are needed
  createQueue({ schema: "background" });
  // @ts-expect-error no such option
  createQueue({ jobs: {}, shema: "background" });
});
