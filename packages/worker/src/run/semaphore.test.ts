import { describe, expect, test } from "vitest";
import { settlePromises } from "../../test/support/fake-clock.js";
import { Semaphore } from "./semaphore.js";

describe("Semaphore", () => {
  test("lets so many in, and the others in the order in which they came", async () => {
    const semaphore = new Semaphore(2);
    const entered: number[] = [];
    for (const n of [1, 2, 3, 4]) void semaphore.acquire().then(() => entered.push(n));
    await settlePromises();
    expect(entered).toEqual([1, 2]);
    semaphore.release();
    await settlePromises();
    expect(entered).toEqual([1, 2, 3]);
    semaphore.release();
    semaphore.release();
    await settlePromises();
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  test("hands a permit on to who waits, and not to who comes at that moment", async () => {
    const semaphore = new Semaphore(1);
    const entered: string[] = [];
    await semaphore.acquire();
    const waiting = semaphore.acquire().then(() => entered.push("waited"));
    semaphore.release();
    void semaphore.acquire().then(() => entered.push("came"));
    await waiting;
    await settlePromises();
    expect(entered).toEqual(["waited"]);
    semaphore.release();
    await settlePromises();
    expect(entered).toEqual(["waited", "came"]);
  });
});
