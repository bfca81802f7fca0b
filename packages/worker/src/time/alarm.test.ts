import { describe, expect, test } from "vitest";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { Alarm } from "./alarm.js";

async function isOver(sleep: Promise<void>): Promise<boolean> {
  let over = false;
  void sleep.then(() => (over = true));
  await settlePromises();
  return over;
}

describe("Alarm", () => {
  test("ends a sleep when it rings, and leaves no timer behind", async () => {
    const clock = fakeClock();
    const alarm = new Alarm(clock);
    const sleep = alarm.sleep(1_000);
    expect(await isOver(sleep)).toBe(false);
    alarm.ring();
    expect(await isOver(sleep)).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test("ends a sleep when its time is over", async () => {
    const clock = fakeClock();
    const sleep = new Alarm(clock).sleep(1_000);
    clock.advance(999);
    expect(await isOver(sleep)).toBe(false);
    clock.advance(1);
    expect(await isOver(sleep)).toBe(true);
  });

  test("keeps a ring that comes before the sleep, however many there are, for one sleep", async () => {
    const clock = fakeClock();
    const alarm = new Alarm(clock);
    alarm.ring();
    alarm.ring();
    expect(await isOver(alarm.sleep(1_000))).toBe(true);
    expect(await isOver(alarm.sleep(1_000))).toBe(false);
  });

  test("keeps no ring that ended a sleep", async () => {
    const alarm = new Alarm(fakeClock());
    const first = alarm.sleep(1_000);
    alarm.ring();
    await first;
    expect(await isOver(alarm.sleep(1_000))).toBe(false);
  });
});
