import { describe, expect, test } from "vitest";
import type { JsonValue } from "@queue/core";
import type { Suite } from "./suite.js";

/** The first whole number that a JavaScript number cannot tell from its neighbour. */
const beyondNumbers = "9007199254740993";

export function describeBatches(suite: Suite): void {
  describe("enqueueMany", () => {
    test("answers in the order of its items, with ids that rise", async () => {
      await suite.committed(async (executor) => {
        const items = Array.from({ length: 1_000 }, (_, n) => ({ kind: "errand", payload: { n } }) as const);
        const results = await suite.queue.enqueueMany(executor, items);
        expect(results).toHaveLength(1_000);
        expect(results.every(({ inserted }) => inserted)).toBe(true);
        const ids = results.map(({ id }) => BigInt(id));
        expect(ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0n))).toBe(true);
      });
      const { items, next } = await suite.admin.jobs({ limit: 1_000 });
      expect(next).toBeNull();
      expect(items.map(({ payload }) => (payload as { n: number }).n)).toEqual(Array.from({ length: 1_000 }, (_, index) => 999 - index));
    });

    test("takes kinds and options of each item by itself", async () => {
      const runAt = new Date("2100-01-01T12:34:56.789Z");
      const [first, second] = await suite.queue.enqueueMany(suite.db, [
        { kind: "chore", payload: null },
        { kind: "note", payload: [1], options: { lane: "elsewhere", priority: 0, maxAttempts: 2, runAt, key: "k" } },
      ]);
      expect(await suite.admin.job(first?.id ?? "")).toMatchObject({
        kind: "chore",
        lane: "chores",
        priority: 7,
        maxAttempts: 8,
        key: null,
      });
      expect(await suite.admin.job(second?.id ?? "")).toMatchObject({
        kind: "note",
        lane: "elsewhere",
        priority: 0,
        maxAttempts: 2,
        runAt,
        key: "k",
      });
    });

    test("of nothing answers nothing", async () => {
      await suite.committed(async (executor) => {
        expect(await suite.queue.enqueueMany(executor, [])).toEqual([]);
      });
    });

    test("gives a key that comes twice to the first", async () => {
      const batch = [1, 2, 3].map((n) => ({ kind: "errand", payload: { n }, options: { key: n === 3 ? "other" : "same" } }) as const);
      await suite.committed(async (executor) => {
        const [first, second, third] = await suite.queue.enqueueMany(executor, batch);
        expect(first).toMatchObject({ inserted: true });
        expect(second).toEqual({ id: first?.id, inserted: false });
        expect(third).toMatchObject({ inserted: true });
      });
      expect((await suite.admin.jobs()).items.map(({ payload }) => payload)).toEqual([{ n: 3 }, { n: 1 }]);
    });

    test("is refused as a whole for one bad item, which it names, and the transaction stays usable", async () => {
      await suite.committed(async (executor) => {
        const batch = ["good", "\0", "good"].map((payload: JsonValue) => ({ kind: "note", payload }) as const);
        await expect(suite.queue.enqueueMany(executor, batch)).rejects.toMatchObject({ code: "INVALID_PAYLOAD", index: 1, path: "$" });
        await suite.queue.enqueue(executor, "chore", null);
      });
      expect((await suite.admin.jobs()).items).toMatchObject([{ kind: "chore" }]);
    });
  });

  test("an id beyond 2^53 stays exact on every way", async () => {
    await suite.run(`alter sequence "${suite.queue.schema.replaceAll('"', '""')}".jobs_id_seq restart with ${2n ** 53n}`);
    await suite.queue.enqueue(suite.db, "chore", null);
    await suite.committed(async (executor) => {
      expect(await suite.queue.enqueue(executor, "errand", { n: 1 }, { key: "k" })).toEqual({ id: beyondNumbers, inserted: true });
      expect(await suite.queue.enqueue(executor, "errand", { n: 2 }, { key: "k" })).toEqual({ id: beyondNumbers, inserted: false });
    });
    const seen: string[] = [];
    const worker = suite.worker({
      handlers: {
        errand({ id, attempt }) {
          seen.push(id);
          if (attempt < 3) throw new Error("again");
        },
      },
    });
    await worker.runUntilIdle();
    expect(seen).toEqual([beyondNumbers, beyondNumbers, beyondNumbers]);
    expect(await suite.admin.job(beyondNumbers)).toMatchObject({ id: beyondNumbers, status: "done" });
    expect(await suite.admin.job(String(2n ** 53n))).toMatchObject({ kind: "chore", status: "queued" });
  });
}
