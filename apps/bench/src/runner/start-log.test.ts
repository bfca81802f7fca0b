import { describe, expect, it } from "vitest";
import { StartLog } from "./start-log.js";

const job = (id: number, failOnce?: true) => ({ id, hello: "world", ...(failOnce ? { failOnce } : {}) });

describe("the log of starts", () => {
  it("lets a job fail once, and keeps both starts apart", () => {
    const log = new StartLog();
    const onStart = log.begin(true);
    expect([onStart(job(1)), onStart(job(2, true)), onStart(job(2, true))]).toEqual(["done", "fail", "done"]);
    const { starts, failures } = log.take();
    expect(starts.map(({ id }) => id)).toEqual([1, 2]);
    expect(failures.map(({ id }) => id)).toEqual([2]);
    expect(log.take().starts).toEqual([]);
  });

  it("keeps nothing but the count unless it is asked to record", () => {
    const log = new StartLog();
    log.begin(false)(job(1));
    expect(log.take().starts).toEqual([]);
    expect(log.progress().started).toBe(1);
  });

  it("tells everyone who waits when their number is reached", async () => {
    const log = new StartLog();
    const onStart = log.begin(false);
    const waits = [log.waitStarted(1, 60_000), log.waitStarted(1, 60_000)];
    onStart(job(1));
    expect((await Promise.all(waits)).map(({ started }) => started)).toEqual([1, 1]);
  });

  it("stops waiting when the time is over", async () => {
    expect((await new StartLog().waitStarted(1, 1)).started).toBe(0);
  });
});
