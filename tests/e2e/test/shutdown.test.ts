import { describe, expect, onTestFinished, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();

function locked(): Promise<object[]> {
  return e2e.sql("select from queue.jobs where status = 'running' or locked_until is not null");
}

describe("B91: SIGTERM", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "(or SIGINT) lets a running job finish, starts no other, and ends with 0: %s",
    async (signal) => {
      const child = await e2e.startWork({ options: { concurrency: 1, shutdownGrace: 10_000 } });
      const { id } = await queue.enqueue(e2e.db, "work", { ms: 1_000 });
      await child.until("handling", { id });
      await queue.enqueueMany(
        e2e.db,
        Array.from({ length: 20 }, (_, n) => ({ kind: "quick", payload: { n } })),
      );
      child.signal(signal);
      const { code, at } = await child.ended;
      const worked = await child.until("worked", { id });
      expect(code).toBe(0);
      expect(at - worked.at).toBeLessThan(1_000);
      expect(child.of("handling")).toHaveLength(1);
      expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 1 });
      expect(await e2e.sql("select distinct status::text, attempts from queue.jobs")).toEqual([{ status: "queued", attempts: 0 }]);
      expect(await locked()).toEqual([]);
      expect(await e2e.sql("select from queue.workers")).toEqual([]);
      expect(child.complaints()).toBe("");
    },
  );

  test("of one of two workers loses nothing: the other does all that is left, at once", async () => {
    const options = { concurrency: 2, pollInterval: 60_000 };
    const [leaving, staying] = [await e2e.startWork({ options }), await e2e.startWork({ options })];
    const jobs = await queue.enqueueMany(
      e2e.db,
      Array.from({ length: 60 }, (_, n) => ({ kind: "work", payload: { ms: n % 7 } }) as const),
    );
    await leaving.until("job.completed");
    leaving.signal("SIGTERM");
    expect((await leaving.ended).code).toBe(0);
    await e2e.sqlUntil("select from queue.all_jobs where status = 'done' having count(*) = 60");
    expect(await e2e.sql("select from queue.all_jobs where attempts <> 1")).toEqual([]);
    const handled = [leaving, staying].flatMap((child) => child.of("handling").map(({ id }) => id));
    expect(handled.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  });
});

describe("B92: a handler that outlasts the grace", () => {
  test("has its job given back: another worker starts it at once, as attempt 2, and the process says by its code that it was so", async () => {
    const options = { lease: 600_000, heartbeat: 1_000, pollInterval: 500, concurrency: 1 };
    const leaving = await e2e.startWork({ options: { ...options, shutdownGrace: 1_000 } });
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 60_000 });
    await leaving.until("handling", { id });
    const staying = await e2e.startWork({ options });
    const signalledAt = performance.now();
    leaving.signal("SIGTERM");
    const again = await staying.until("handling", { id });
    expect(again["attempt"]).toBe(2);
    expect(again.at - signalledAt).toBeLessThan(1_000 + 500 + 2_000);
    const { code, at } = await leaving.ended;
    expect(code).toBe(1);
    expect(at - signalledAt).toBeLessThan(3_000);
    expect(leaving.of("job.released")).toMatchObject([{ id, attempt: 1 }]);
  });

  test("is not waited for any longer when somebody insists, by another signal", async () => {
    const child = await e2e.startWork({ options: { shutdownGrace: 60_000, concurrency: 1 } });
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 60_000 });
    await child.until("handling", { id });
    const stopSignals = setInterval(() => child.signal("SIGTERM"), 250);
    onTestFinished(() => clearInterval(stopSignals));
    const { code } = await child.ended;
    expect(code).toBe(1);
    expect(await e2e.job(id)).toMatchObject({ status: "queued", attempts: 1 });
    expect(await locked()).toEqual([]);
  });
});

describe("B93: a process that stops its worker", () => {
  test.each([true, false])("ends by itself, with a listener or without: %s", async (listens) => {
    const child = e2e.work({ does: "startAndStop", listens });
    const stopped = await child.until("stopped");
    const { code, at } = await child.ended;
    expect(code).toBe(0);
    expect(at - stopped.at).toBeLessThan(1_000);
    expect(child.complaints()).toBe("");
  });

  test("ends by itself also when a job failed while it stopped, which is to be tried again in minutes", async () => {
    const { id } = await queue.enqueue(e2e.db, "later", null);
    const child = e2e.work({ does: "stopWhileFailing" });
    const stopped = await child.until("stopped");
    const { code, at } = await child.ended;
    expect(code).toBe(0);
    expect(at - stopped.at).toBeLessThan(1_000);
    expect(await e2e.job(id)).toMatchObject({ status: "queued", attempts: 1, last_error: "in five minutes" });
  });
});
