import { describe, expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import { startChild } from "../src/support/child-process.js";
import { useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();

function terminateAll(): Promise<object[]> {
  return e2e.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name in ('e2e', 'queue listener')",
  );
}

describe("B16: all connections of an idle worker are terminated", () => {
  test("it lives on, listens again, and does the next job; a loss is one warning at most", async () => {
    const child = await e2e.startWork({ options: { pollInterval: 60_000, concurrency: 5 } });
    await child.until("worker.listening");
    const terminated = (await terminateAll()).length;
    expect(terminated).toBeGreaterThanOrEqual(2);
    await child.until("worker.listening", {}, 2);
    const { id } = await queue.enqueue(e2e.db, "quick", { n: 1 });
    await child.until("job.completed", { id });
    const warnings = child.of("warning").map(({ error }) => String(error));
    expect(warnings.filter((error) => error.includes("Listening failed"))).toHaveLength(1);
    expect(warnings.length).toBeLessThanOrEqual(terminated);
    child.signal("SIGTERM");
    expect((await child.ended).code).toBe(0);
    expect(child.complaints()).toBe("");
  });
});

describe("B24: all connections are terminated while a handler runs, twice", () => {
  test("the handler finishes once, at its first attempt", async () => {
    const child = await e2e.startWork({ options: { lease: 5_000, heartbeat: 200, concurrency: 5 } });
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 3_000 });
    await child.until("handling", { id });
    for (const listening of [2, 3]) {
      await terminateAll();
      await child.until("worker.listening", {}, listening);
    }
    await child.until("job.completed", { id });
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 1 });
    expect(child.of("handling")).toHaveLength(1);
    expect(child.complaints()).toBe("");
  });
});

describe("B17: a process that only enqueues", () => {
  test("survives that its connections are terminated, and enqueues again", async () => {
    const child = startChild("enqueue-twice", { E2E_URL: e2e.url });
    await child.until("enqueued");
    expect((await terminateAll()).length).toBeGreaterThan(0);
    await e2e.sqlUntil(
      "select where not exists (select from pg_stat_activity where datname = current_database() and application_name = 'e2e')",
    );
    child.tell("again");
    await child.until("enqueued", {}, 2);
    expect((await child.ended).code).toBe(0);
    expect(await e2e.sql("select from queue.jobs")).toHaveLength(2);
    expect(child.complaints()).toBe("");
  });
});
