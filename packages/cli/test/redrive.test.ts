import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, it } from "vitest";
import { insertDeadJobs } from "./support/dead-jobs.js";
import { runCli, runJson } from "./support/run-cli.js";

const database = useTestDatabase();
const cli = (...args: string[]) => runCli(args, { url: database.url });

beforeEach(() => database.pool.query("truncate queue.jobs, queue.job_keys"));

async function counts(): Promise<Record<string, number>> {
  const { rows } = await database.pool.query<{ status: string; n: number }>("select status, count(*)::int as n from queue.jobs group by 1");
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

describe("queue redrive", () => {
  it("only counts, when it is told to", async () => {
    await insertDeadJobs(database.pool, "report", 3);
    expect(await cli("redrive", "--all", "--dry-run")).toEqual({ code: 0, stdout: "3 jobs would be redriven.\n", stderr: "" });
    expect(await runJson(["redrive", "--kind", "report", "--dry-run"], { url: database.url })).toEqual({
      code: 0,
      json: { count: 3, dryRun: true, conflicts: [] },
    });
    expect(await counts()).toEqual({ dead: 3 });
  });

  it("does nothing where nobody can be asked, unless it is told --yes", async () => {
    await insertDeadJobs(database.pool, "report", 3);
    const { code, stdout, stderr } = await cli("redrive", "--all");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toBe("queue: Redrive 3 jobs? Nobody can be asked here: add --yes to do it, or --dry-run to see what would be done.\n");
    expect(await counts()).toEqual({ dead: 3 });
    expect(await cli("redrive", "--all", "--yes")).toEqual({ code: 0, stdout: "3 jobs redriven.\n", stderr: "" });
    expect(await counts()).toEqual({ queued: 3 });
  });

  it("takes what its filters say, and no more than the limit", async () => {
    await insertDeadJobs(database.pool, "report", 3);
    await insertDeadJobs(database.pool, "mail", 2);
    expect((await cli("redrive", "--kind", "report", "--limit", "2", "--yes")).stdout).toBe("2 jobs redriven.\n");
    expect((await cli("redrive", "--lane", "nothing", "--yes")).stdout).toBe("0 jobs redriven.\n");
    expect((await cli("redrive", "--dead-after", "2100-01-01", "--dry-run")).stdout).toBe("0 jobs would be redriven.\n");
    expect(await counts()).toEqual({ dead: 3, queued: 2 });
  });

  it("goes through thousands in parts, and counts each once", async () => {
    await insertDeadJobs(database.pool, "report", 2_500);
    expect(await runJson(["redrive", "--all", "--yes"], { url: database.url })).toMatchObject({
      code: 0,
      json: { count: 2_500, conflicts: [] },
    });
    expect(await counts()).toEqual({ queued: 2_500 });
  });

  it("names those that stay dead because another job holds their key", async () => {
    const [dead = ""] = await insertDeadJobs(database.pool, "report", 1);
    await database.pool.query("update queue.jobs set idempotency_key = 'k', key_release = 'ended' where id = $1", [dead]);
    await runCli(["enqueue", "report", "null", "--key", "k", "--key-holds", "until-ended"], { url: database.url });
    const { stdout } = await cli("redrive", "--all", "--yes");
    expect(stdout).toBe(`0 jobs redriven; 1 job stays dead, because another job holds their key (${dead}).\n`);
  });
});
