import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, it } from "vitest";
import { insertDeadJobs } from "./support/dead-jobs.js";
import { environment, program, runCli, runJson } from "./support/run-cli.js";

interface Page {
  readonly items: readonly { readonly id: string; readonly kind: string; readonly status: string }[];
  readonly next: string | null;
}

const database = useTestDatabase();
const cli = (...args: string[]) => runCli(args, { url: database.url });
const json = <T>(...args: string[]) => runJson<T>(args, { url: database.url });

beforeEach(() => database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys, queue.lanes"));

async function insert(kind: string, lane = "default"): Promise<string> {
  const { rows } = await database.pool.query<{ id: string }>("insert into queue.jobs (kind, lane) values ($1, $2) returning id::text", [
    kind,
    lane,
  ]);
  return rows[0]?.id ?? "";
}

describe("queue status", () => {
  it("shows each lane, and as JSON what health says", async () => {
    await insert("mail.send", "mail");
    await insertDeadJobs(database.pool, "report", 2);
    const { code, stdout } = await cli("status");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^lane +ready +oldest +scheduled +running +expired +dead +paused\n/);
    expect(stdout).toMatch(/^mail +1 .* 0 +no$/m);
    expect(stdout).toMatch(/^default +0 .* 2 +no$/m);
    expect(stdout).toContain("kinds without a worker: mail.send");
    expect(await json("status")).toMatchObject({
      code: 0,
      json: {
        lanes: [
          { lane: "default", dead: 2 },
          { lane: "mail", ready: 1 },
        ],
        kindsWithoutWorker: ["mail.send"],
      },
    });
  });

  it("watches: a line of JSON each time, until it is interrupted", async () => {
    const args = [program, "status", "--watch", "1", "--json", "--url", database.url];
    const child = spawn(process.execPath, args, { env: environment({}) });
    const closed = once(child, "close");
    const lines: object[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(JSON.parse(line) as object);
      if (lines.length === 2) child.kill("SIGINT");
    }
    expect(lines[1]).toMatchObject({ at: expect.any(String) as string, lanes: [], kindsWithoutWorker: [] });
    expect(await closed).toEqual([0, null]);
  });

  it("says so when nothing is there", async () => {
    expect((await cli("status")).stdout).toMatch(/^No lane has jobs\.\n/);
  });
});

describe("queue jobs", () => {
  it("lists them, newest first, and filters", async () => {
    const [mail, tick] = [await insert("mail.send", "mail"), await insert("tick")];
    const [dead = ""] = await insertDeadJobs(database.pool, "report", 1);
    const { stdout } = await cli("jobs");
    expect(stdout.split("\n").map((line) => line.split(" ")[0])).toEqual(["id", dead, tick, mail, ""]);
    expect(stdout).toMatch(/report +default +dead +8\/8 .* no such customer$/m);
    const ids = async (...args: string[]) => (await json<Page>("jobs", ...args)).json.items.map(({ id }) => id);
    expect(await ids("--lane", "mail")).toEqual([mail]);
    expect(await ids("--kind", "tick")).toEqual([tick]);
    expect(await ids("--status", "dead")).toEqual([dead]);
  });

  it("goes through pages", async () => {
    const ids = [await insert("a"), await insert("a"), await insert("a")].reverse();
    const first = await json<Page>("jobs", "--limit", "2");
    expect(first.json.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect((await cli("jobs", "--limit", "2")).stdout).toContain(`More: add --after ${first.json.next}`);
    const second = await json<Page>("jobs", "--limit", "2", "--after", first.json.next ?? "");
    expect(second.json).toMatchObject({ items: [{ id: ids[2] }], next: null });
  });

  it("says so when there are none", async () => {
    expect(await cli("jobs")).toEqual({ code: 0, stdout: "No jobs.\n", stderr: "" });
  });

  it("shows control characters, and does not send them to the terminal", async () => {
    await insert("red \u001b[31m", "two\nlines");
    const { stdout } = await cli("jobs");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).toContain("red \\u001b[31m");
    expect(stdout).toContain("two⏎lines");
  });

  it("ends quietly when whoever reads has enough", async () => {
    await database.pool.query("insert into queue.jobs (kind, last_error) select 'tick', repeat('x', 500) from generate_series(1, 1000)");
    const child = spawn(process.execPath, [program, "jobs", "--limit", "1000", "--url", database.url], { env: environment({}) });
    child.stdout.once("data", () => child.stdout.destroy());
    const stderr = text(child.stderr);
    const [code] = (await once(child, "close")) as [number | null];
    expect([code, await stderr]).toEqual([0, ""]);
  });
});

describe("queue job", () => {
  it("shows all of one job, with its failures", async () => {
    const [id = ""] = await insertDeadJobs(database.pool, "report", 1);
    const { code, stdout } = await cli("job", id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^kind +report$/m);
    expect(stdout).toContain("attempt 8, 2026-11-29 12:00:00Z: Error: no such customer");
    expect((await json("job", id)).json).toMatchObject({ id, status: "dead", errors: [{ name: "Error" }] });
  });

  it("fails when there is none", async () => {
    expect(await cli("job", "42")).toEqual({
      code: 1,
      stdout: "",
      stderr: "queue: There is no job 42, live or in the archive. (JOB_NOT_FOUND)\n",
    });
  });
});

describe("queue retry and queue cancel", () => {
  it("bring a dead job back, and end it", async () => {
    const [id = ""] = await insertDeadJobs(database.pool, "report", 1);
    expect(await cli("retry", id)).toEqual({ code: 0, stdout: `Job ${id} is queued.\n`, stderr: "" });
    expect((await json("cancel", id)).json).toMatchObject({ id, status: "cancelled" });
    expect(await cli("retry", id)).toMatchObject({ code: 1, stderr: `queue: Job ${id} is cancelled and cannot be retried. (JOB_STATE)\n` });
  });
});

describe("queue pause and queue resume", () => {
  it("stop claims from a lane, and let them go on", async () => {
    await insert("tick");
    expect(await cli("pause", "default")).toEqual({ code: 0, stdout: "Lane default is paused.\n", stderr: "" });
    expect((await cli("status")).stdout).toMatch(/^default .* yes$/m);
    expect(await json("resume", "default")).toEqual({ code: 0, json: { lane: "default", paused: false } });
    expect((await cli("status")).stdout).toMatch(/^default .* no$/m);
  });
});
