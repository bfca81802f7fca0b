import { describe, expect, test } from "vitest";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { withTimeout } from "./with-timeout.js";

describe("withTimeout", () => {
  test("is what the promise is, when that is in time, and leaves no timer", async () => {
    const clock = fakeClock();
    await expect(withTimeout(Promise.resolve(1), 100, clock)).resolves.toBe(1);
    await expect(withTimeout(Promise.reject(new Error("own")), 100, clock)).rejects.toThrow("own");
    expect(clock.pending).toBe(0);
  });

  test("rejects when the promise is too late, and does not mind how that ends", async () => {
    const clock = fakeClock();
    let fail = (_error: Error) => {};
    const late = new Promise<never>((_resolve, reject) => (fail = reject));
    const outcome = withTimeout(late, 100, clock).catch((error: unknown) => error);
    clock.advance(100);
    expect(await outcome).toMatchObject({ message: expect.stringContaining("100 ms") });
    fail(new Error("nobody asks"));
    await settlePromises();
  });
});
