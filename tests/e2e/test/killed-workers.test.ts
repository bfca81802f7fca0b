import { describe, expect, test } from "vitest";
import { queue } from "../src/processes/e2e-queue.js";
import type { Child } from "../src/support/child-process.js";
import { shortLease, useE2e } from "../src/support/use-e2e.js";

const e2e = useE2e();
/** A lease, a sweep that is due any moment, and a second for everything else. */
const recoveryMs = shortLease.lease + shortLease.sweepInterval * 1.05 + 1_000;

describe("a worker that is killed", () => {
  test("has its running jobs started elsewhere within a lease and a sweep", async () => {
    const first = await e2e.startWork({ options: { ...shortLease, concurrency: 5 } });
    const jobs = await queue.enqueueMany(
      e2e.db,
      Array.from({ length: 5 }, () => ({ kind: "work", payload: { ms: 60_000 } }) as const),
    );
    await first.until("handling", {}, 5);
    const second = await e2e.startWork({ options: { ...shortLease, concurrency: 5 } });
    const killedAt = performance.now();
    first.signal("SIGKILL");
    const fifth = await second.until("handling", {}, 5);
    expect(fifth.at - killedAt).toBeLessThan(recoveryMs);
    expect(second.of("handling").map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2, 2]);
    const handled = second.of("handling").map(({ id }) => id);
    expect(handled.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
    expect((await first.ended).signal).toBe("SIGKILL");
  });

  test("B37: and another with its host name and process id neither keeps its jobs nor gives them away", async () => {
    const pretends = { host: "w", pid: 1 };
    const options = { ...shortLease, concurrency: 1 };
    const a = await e2e.startWork({ pretends, options });
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 3_500 });
    await a.until("handling", { id });
    const b = await e2e.startWork({ pretends, options });
    b.signal("SIGKILL");
    const c = await e2e.startWork({ pretends, options });
    // A works on, for longer than a lease, beside C.
    await a.until("job.completed", { id });
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 1 });
    expect([...b.of("handling"), ...c.of("handling")]).toEqual([]);

    const next = await queue.enqueue(e2e.db, "work", { ms: 60_000 }, { lane: "next" });
    const running = await whoHandles([a, c], next.id);
    const other = running === a ? c : a;
    const killedAt = performance.now();
    running.signal("SIGKILL");
    const again = await other.until("handling", { id: next.id, attempt: 2 });
    expect(again.at - killedAt).toBeLessThan(recoveryMs);
    const names = [a, b, c].map((child) => child.of("worker.started")[0]?.["worker"]);
    expect(names.every((name) => String(name).startsWith("w:1:"))).toBe(true);
    expect(new Set(names).size).toBe(3);
  });

  test("B41: by its job, dies exactly as often as the job may be tried, and the others are done", async () => {
    const { id } = await queue.enqueue(e2e.db, "kill", null, { priority: 0 });
    await queue.enqueueMany(
      e2e.db,
      Array.from({ length: 10 }, (_, n) => ({ kind: "quick", payload: { n } })),
    );
    const deaths: (string | null)[] = [];
    const options = { ...shortLease, lease: 500, heartbeat: 150, concurrency: 1 };
    let child: Child | undefined;
    // A supervisor, which starts it again as long as it dies.
    for (let round = 0; round < 6; round++) {
      child = e2e.work({ options });
      const killed = child.ended.then(({ signal }) => signal);
      const buried = child.until("job.dead", { id }).then(() => null);
      buried.catch(() => {});
      const end = await Promise.race([killed, buried]);
      if (end === null) break;
      deaths.push(end);
    }
    expect(deaths).toEqual(["SIGKILL", "SIGKILL", "SIGKILL"]);
    await e2e.sqlUntil("select from queue.all_jobs where kind = 'quick' and status = 'done' having count(*) = 10");
    expect(await e2e.job(id)).toMatchObject({ status: "dead", attempts: 3, last_error: expect.stringContaining("lease ran out") });
    expect(child?.of("handling").filter(({ kind }) => kind === "kill")).toEqual([]);
  });
});

describe("B38: a worker that is frozen for longer than its lease", () => {
  test.each([false, true])("changes nothing when it goes on, and says that it lost the job (its handler fails: %s)", async (fails) => {
    const options = { ...shortLease, concurrency: 1 };
    const frozen = await e2e.startWork({ options });
    const { id } = await queue.enqueue(e2e.db, "work", { ms: 1_500, fails });
    await frozen.until("handling", { id });
    frozen.signal("SIGSTOP");
    await e2e.sql("update queue.jobs set payload = payload - 'fails'");
    const other = await e2e.startWork({ options });
    await other.until("job.completed", { id });
    const before = await e2e.sql("select * from queue.all_jobs where id = $1", [id]);
    frozen.signal("SIGCONT");
    await frozen.until("worked", { id });
    await frozen.until("job.lease-lost", { id });
    const next = await queue.enqueue(e2e.db, "quick", { n: 1 });
    await Promise.race([frozen, other].map((child) => child.until("job.completed", { id: next.id })));
    expect(await e2e.sql("select * from queue.all_jobs where id = $1", [id])).toEqual(before);
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 2 });
    expect(frozen.of("job.lease-lost")).toHaveLength(1);
    expect([...frozen.of("job.completed"), ...frozen.of("job.failed")].filter((one) => one["id"] === id)).toEqual([]);
  });
});

describe("B40: a handler that blocks its process for longer than the lease", () => {
  test("runs again elsewhere, is done once, and the process says how long it was blocked", async () => {
    const options = { ...shortLease, concurrency: 1 };
    const children = await Promise.all([e2e.startWork({ options }), e2e.startWork({ options })]);
    const { id } = await queue.enqueue(e2e.db, "spin", { ms: 3_000 });
    const blocked = await whoHandles(children, id);
    await e2e.sql("update queue.jobs set payload = '{\"ms\": 1}'");
    const other = children.find((child) => child !== blocked);
    await other?.until("job.completed", { id });
    const warning = await blocked.until("warning");
    expect(warning["message"]).toContain("event loop was blocked");
    expect(warning["blockedMs"]).toBeGreaterThanOrEqual(2_000);
    await blocked.until("job.lease-lost", { id });
    expect(await e2e.job(id)).toMatchObject({ status: "done", attempts: 2 });
    expect(children.flatMap((child) => child.of("job.completed"))).toHaveLength(1);
  });
});

function whoHandles(children: readonly Child[], id: string): Promise<Child> {
  return Promise.race(
    children.map(async (child) => {
      await child.until("handling", { id });
      return child;
    }),
  );
}
