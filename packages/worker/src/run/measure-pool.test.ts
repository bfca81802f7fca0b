import { describe, expect, test } from "vitest";
import type { AdapterDatabase, Executor } from "@queue/core/adapter";
import { fakeClock } from "../../test/support/fake-clock.js";
import { measurePool } from "./measure-pool.js";

/** A pool of the given size, that counts what is out of it. */
function poolOf(size: number, { rejects = false } = {}) {
  const waiting: (() => void)[] = [];
  const pool = { out: 0, most: 0 };
  const take = async () => {
    if (pool.out >= size) {
      if (rejects) throw new Error("timeout exceeded when trying to connect");
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    pool.out += 1;
    pool.most = Math.max(pool.most, pool.out);
  };
  const executor: Executor = { adapter: "fake", execute: () => Promise.resolve({ rows: [] }) };
  const db: AdapterDatabase<unknown> = {
    ...executor,
    async transaction<T>(body: (trx: unknown, executor: Executor) => Promise<T>): Promise<T> {
      await take();
      const result = await body(undefined, executor);
      pool.out -= 1;
      waiting.shift()?.();
      return result;
    },
  };
  return { db, pool };
}

const never = new Promise<void>(() => {});

describe("measurePool", () => {
  test("finds as many as are wanted, at once", async () => {
    const { db, pool } = poolOf(10);
    const clock = fakeClock();
    expect(await measurePool(db, 5, clock, never)).toBe(5);
    await clock.advanceSlowly(1_000);
    expect(pool).toEqual({ out: 0, most: 5 });
    expect(clock.pending).toBe(0);
  });

  test("finds what there is when the pool hands out no more, and takes nothing that comes later", async () => {
    const { db, pool } = poolOf(3);
    const clock = fakeClock();
    const found = measurePool(db, 12, clock, never);
    await clock.advanceSlowly(4_000);
    expect(await found).toBe(3);
    await clock.advanceSlowly(1_000);
    expect(pool).toEqual({ out: 0, most: 3 });
  });

  test("takes an error of the pool for its answer", async () => {
    const { db, pool } = poolOf(2, { rejects: true });
    expect(await measurePool(db, 12, fakeClock(), never)).toBe(2);
    expect(pool.most).toBe(2);
  });

  test("gives everything back when the worker stops meanwhile, before it ends", async () => {
    const { db, pool } = poolOf(3);
    const clock = fakeClock();
    const found = measurePool(db, 12, clock, Promise.resolve());
    expect(await found).toBeUndefined();
    expect(pool).toEqual({ out: 0, most: 3 });
    expect(clock.pending).toBe(0);
  });
});
