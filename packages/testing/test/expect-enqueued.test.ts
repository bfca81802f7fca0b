import { AssertionError } from "node:assert";
import { QueueError } from "@queue/core";
import { useTestDatabase } from "@queue/test-database";
import { expectEnqueued, expectNotEnqueued } from "@queue/testing";
import { Kysely, PostgresDialect, sql } from "kysely";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { queue } from "./support/shop-queue.js";

const database = useTestDatabase();
let db: Kysely<unknown>;

beforeEach(async () => {
  db ??= new Kysely<unknown>({ dialect: new PostgresDialect({ pool: database.pool }) });
  await sql`truncate queue.jobs, queue.job_keys`.execute(db);
});
afterAll(() => db.destroy());

async function failureOf(assertion: Promise<unknown>): Promise<AssertionError> {
  const error = await assertion.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AssertionError);
  return error as AssertionError;
}

describe("expectEnqueued", () => {
  it("finds a job by its kind, and by a part of its payload", async () => {
    const { id } = await queue.enqueue(db, "order.receipt", { id: "o1", lines: [{ sku: "a", count: 2 }] });
    expect((await expectEnqueued(db, queue, "order.receipt")).id).toBe(id);
    expect((await expectEnqueued(db, queue, "order.receipt", { id: "o1" })).id).toBe(id);
    expect((await expectEnqueued(db, queue, "order.receipt", { lines: [{ sku: "a" }] })).id).toBe(id);
  });

  it("shows what was enqueued instead", async () => {
    const { id } = await queue.enqueue(db, "order.receipt", { id: "o1" }, { key: "k" });
    await queue.enqueueMany(db, [
      { kind: "tick", payload: null },
      { kind: "tick", payload: null },
    ]);
    const error = await failureOf(expectEnqueued(db, queue, "order.receipt", { id: "o2" }));
    expect(error.message).toBe(
      [
        `Expected a job that is queued, of kind "order.receipt", with a payload that contains {"id":"o2"}, but there is none.`,
        "Of this kind are there:",
        `  job ${id}, queued: {"id":"o1"}, key "k", lane "mail", priority 5`,
        `Of other kinds: "tick" (2).`,
      ].join("\n"),
    );
    expect(error).toMatchObject({ actual: [{ id: "o1" }], expected: { id: "o2" } });
  });

  it("says so when nothing was enqueued", async () => {
    const error = await failureOf(expectEnqueued(db, queue, "tick"));
    expect(error.message).toContain('Expected a job that is queued, of kind "tick", but there is none.\nNo job of this kind is there.');
  });

  it("cuts long payloads, and long lists", async () => {
    await queue.enqueueMany(
      db,
      Array.from({ length: 12 }, () => ({ kind: "order.remind", payload: { id: "x".repeat(2_000) } })),
    );
    const { message } = await failureOf(expectEnqueued(db, queue, "order.remind", { id: "o1" }));
    expect(message).toContain("and 2 more");
    expect(message.length).toBeLessThan(5_000);
  });

  it("counts, when it is told how many", async () => {
    await queue.enqueue(db, "tick", null);
    await queue.enqueue(db, "tick", null);
    await expectEnqueued(db, queue, "tick", undefined, { count: 2 });
    expect((await failureOf(expectEnqueued(db, queue, "tick", undefined, { count: 1 }))).message).toContain("there are 2");
  });

  it("compares key, lane, priority and status", async () => {
    await queue.enqueue(db, "tick", null, { key: "k", lane: "slow", priority: 9 });
    await expectEnqueued(db, queue, "tick", null, { key: "k", lane: "slow", priority: 9, status: "any" });
    for (const wrong of [{ key: "l" }, { lane: "default" }, { priority: 5 }, { status: "dead" }] as const) {
      expect((await failureOf(expectEnqueued(db, queue, "tick", null, wrong))).message).toContain("but there is none");
    }
  });

  it("sees what its transaction has enqueued, and nobody else does", async () => {
    await db.transaction().execute(async (trx) => {
      await queue.enqueue(trx, "tick", null);
      await expectEnqueued(trx, queue, "tick");
      await expectNotEnqueued(db, queue, "tick");
    });
  });

  it("refuses kinds and options that it does not know", async () => {
    const wrongKind = await expectEnqueued(db, queue, "tock" as "tick").catch((error: unknown) => error);
    expect(QueueError.is(wrongKind, "UNKNOWN_KIND")).toBe(true);
    const wrongOption = await expectEnqueued(db, queue, "tick", null, { keys: "k" } as object).catch((error: unknown) => error);
    expect(QueueError.is(wrongOption, "INVALID_OPTION")).toBe(true);
  });

  it("takes a part of the payload that the kind has, by the compiler", async () => {
    // @ts-expect-error -- the payload has no such member
    const misspelt = expectEnqueued(db, queue, "order.receipt", { di: "o1" });
    await failureOf(misspelt);
  });
});

describe("expectNotEnqueued", () => {
  it("is content when nothing matches", async () => {
    await queue.enqueue(db, "order.remind", { id: "o1" });
    await expectNotEnqueued(db, queue, "tick");
    await expectNotEnqueued(db, queue, "order.remind", { id: "o2" });
    await expectNotEnqueued(db, queue, "order.remind", { id: "o1" }, { status: "dead" });
  });

  it("shows what matches", async () => {
    const { id } = await queue.enqueue(db, "order.remind", { id: "o1" });
    const { message } = await failureOf(expectNotEnqueued(db, queue, "order.remind", { id: "o1" }));
    expect(message).toContain("Expected no job that is queued");
    expect(message).toContain(`job ${id}, queued: {"id":"o1"}`);
  });
});
