import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/support/fake-clock.js";
import { DatabaseClock } from "./database-clock.js";

const aDayMs = Date.UTC(2030, 0, 1);

describe("DatabaseClock", () => {
  test("shows the time of day of the process until the database has said its own", () => {
    const clock = fakeClock();
    const databaseClock = new DatabaseClock(clock);
    expect(databaseClock.databaseNowMs).toBeUndefined();
    expect(databaseClock.date()).toEqual(clock.date());
    databaseClock.observe(aDayMs * 1_000, clock.now());
    clock.advance(5_000);
    expect(databaseClock.date()).toEqual(new Date(aDayMs + 5_000));
  });

  test("believes the answer that was on its way for the shortest time", () => {
    const clock = fakeClock();
    const databaseClock = new DatabaseClock(clock);
    for (const lateMs of [80, 3, 40, 60]) databaseClock.observe((aDayMs + lateMs) * 1_000, clock.now());
    expect(databaseClock.date().getTime() - aDayMs).toBeGreaterThanOrEqual(3);
    expect(databaseClock.date().getTime() - aDayMs).toBeLessThan(10);
  });

  test("follows a clock that drifts, and one that was set, at once", () => {
    const clock = fakeClock();
    const databaseClock = new DatabaseClock(clock);
    databaseClock.observe(aDayMs * 1_000, clock.now());
    for (let n = 0; n < 100; n++) databaseClock.observe((aDayMs + 500) * 1_000, clock.now());
    expect(databaseClock.date().getTime() - aDayMs).toBeGreaterThan(490);
    databaseClock.observe((aDayMs + 3_600_000) * 1_000, clock.now());
    expect(databaseClock.date().getTime() - aDayMs).toBe(3_600_000);
  });
});
