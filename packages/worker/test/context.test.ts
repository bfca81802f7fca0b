import { describe, expect, test } from "vitest";
import { createQueue, job, type Job } from "@queue/core";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({
  jobs: {
    mail: job<{ to: string }>({ lane: "letters", backoff: { base: 1 }, maxAttempts: 2 }),
    limited: job<{ to: string }>({ lane: "letters", priority: 7, maxAttempts: 2, backoff: { base: 1 }, timeout: "1h" }),
  },
});

describe("a handler's job", () => {
  test("says all about itself, and nothing else", async () => {
    const seen: Job<"mail", { to: string }>[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        mail: (one) => {
          seen.push(one);
          if (one.attempt === 1) throw new Error("again");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "mail", { to: "a" }, { key: "k", maxAttempts: 5, lane: "other" });
    const { created_at } = await workers.job(id);
    await events.until("job.completed");
    const { run_at } = await workers.job(id);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(seen[1]).toEqual({
      id,
      kind: "mail",
      payload: { to: "a" },
      lane: "other",
      attempt: 2,
      maxAttempts: 5,
      key: "k",
      createdAt: created_at,
      runAt: run_at,
    });
    expect(typeof seen[0]?.id).toBe("string");
  });
});

describe("ctx.log", () => {
  test("writes to the worker's logger, with the job, and never its payload", async () => {
    const { events, logger } = await workers.start({
      queue,
      handlers: {
        mail: ({ attempt }, { log }) => {
          log.debug({ step: 0 }, "debug");
          log.info({ step: 1 }, "info");
          log.warn({ step: 2 }, "warn");
          log.error({ step: 3, job: "overridden" }, "error");
          if (attempt === 1) throw new Error("again");
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "mail", { to: "secret@example.org" });
    await events.until("job.completed");
    const own = logger.lines.filter(({ details }) => "step" in details);
    expect(own.slice(0, 4)).toEqual([
      { level: "debug", details: { job: id, kind: "mail", attempt: 1, step: 0 }, message: "debug" },
      { level: "info", details: { job: id, kind: "mail", attempt: 1, step: 1 }, message: "info" },
      { level: "warn", details: { job: id, kind: "mail", attempt: 1, step: 2 }, message: "warn" },
      { level: "error", details: { job: "overridden", kind: "mail", attempt: 1, step: 3 }, message: "error" },
    ]);
    expect(own[4]?.details).toMatchObject({ attempt: 2 });
    expect(JSON.stringify([logger.lines, events.all])).not.toContain("secret@example.org");
  });

  test("goes into no line of the worker's own either, also when a job dies or its lease is lost", async () => {
    const { events, logger } = await workers.start({
      queue,
      handlers: {
        mail: async ({ id, payload }) => {
          if (payload.to === "secret-lost") await workers.sql("update queue.jobs set worker = 'thief' where id = $1", [id]);
          else throw new Error("no");
        },
      },
    });
    await queue.enqueue(workers.db, "mail", { to: "secret-dead" });
    await queue.enqueue(workers.db, "mail", { to: "secret-lost" });
    await Promise.all([events.until("job.dead"), events.until("job.lease-lost")]);
    expect(JSON.stringify([logger.lines, events.all])).not.toContain("secret-");
    expect(logger.linesOf("warn").map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining("lease was lost")]),
    );
    expect(logger.linesOf("error")).toHaveLength(1);
  });
});

describe("ctx.idempotencyKey", () => {
  test("stays the same over attempts, retries by hand and redrives, and is no other job's", async () => {
    const keys = new Map<string, Set<string>>();
    const { events } = await workers.start({
      queue,
      handlers: {
        mail: ({ id }, { idempotencyKey }) => {
          keys.set(id, (keys.get(id) ?? new Set()).add(idempotencyKey));
          throw new Error("no");
        },
      },
    });
    const admin = queue.admin(workers.db);
    const [first, second] = await queue.enqueueMany(workers.db, [
      { kind: "mail", payload: { to: "a" } },
      { kind: "mail", payload: { to: "a" } },
    ]);
    await events.until("job.dead", 2);
    await admin.retry(first?.id ?? "");
    await admin.redrive({ kind: "mail" });
    await events.until("job.dead", 4);
    const [a, b] = [keys.get(first?.id ?? ""), keys.get(second?.id ?? "")];
    expect([a?.size, b?.size]).toEqual([1, 1]);
    expect([...(a ?? [])]).not.toEqual([...(b ?? [])]);
    expect([...(a ?? [])][0]).toContain("mail");
  });
});

describe("B68: a job that is redriven", () => {
  test("keeps its payload and limits, begins again with attempt 1, and dies again with both histories", async () => {
    const attempts: number[] = [];
    const { events } = await workers.start({
      queue,
      handlers: {
        limited: ({ attempt, maxAttempts, payload, key }) => {
          attempts.push(attempt);
          throw new Error(`${payload.to} ${key} ${attempt}/${maxAttempts}`);
        },
      },
    });
    const { id } = await queue.enqueue(workers.db, "limited", { to: "x" }, { key: "u" });
    await events.until("job.dead");
    expect(await queue.admin(workers.db).redrive({ kind: "limited" })).toMatchObject({ count: 1, conflicts: [] });
    await events.until("job.dead", 2);
    expect(attempts).toEqual([1, 2, 1, 2]);
    const rows = await workers.jobs();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ id, status: "dead", lane: "letters", attempts: 2, max_attempts: 2, redrives: 1 });
    expect(rows[0]?.errors.map(({ message }) => message)).toEqual(["x u 1/2", "x u 2/2", "x u 1/2", "x u 2/2"]);
    expect(await queue.admin(workers.db).job(id)).toMatchObject({ priority: 7, key: "u", payload: { to: "x" } });
  });
});
