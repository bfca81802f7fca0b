import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { useTestDatabase } from "@queue/test-database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runCli, runJson } from "./support/run-cli.js";

const database = useTestDatabase();
beforeEach(() => database.pool.query("truncate queue.jobs, queue.jobs_archive, queue.job_keys"));

const stored = async () =>
  (await database.pool.query<object>("select kind, payload, lane, priority, max_attempts, idempotency_key from queue.jobs order by id"))
    .rows;

describe("queue enqueue without a queue in the config", () => {
  it("writes the job as it is told, and says that nothing was checked", async () => {
    const args = ["enqueue", "mail.send", '{"to":"ada"}', "--key", "k", "--lane", "mail", "--priority", "2", "--max-attempts", "3"];
    const { code, stdout, stderr } = await runCli(args, { url: database.url });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Job \d+ is queued\.\n$/);
    expect(stderr).toBe('Kind "mail.send" is not checked: no config has the application\'s queue.\n');
    expect(await stored()).toEqual([
      { kind: "mail.send", payload: { to: "ada" }, lane: "mail", priority: 2, max_attempts: 3, idempotency_key: "k" },
    ]);
    const again = await runCli(args, { url: database.url });
    expect(again.stdout).toMatch(/^Nothing was inserted: job \d+ holds the key k\.\n$/);
    expect(await runJson(args, { url: database.url })).toMatchObject({ code: 0, json: { inserted: false, isChecked: false } });
  });

  it("reads the payload from standard input, and takes none for null", async () => {
    await runCli(["enqueue", "mail.send", "-"], { url: database.url, stdin: '["from stdin"]' });
    await runCli(["enqueue", "tick"], { url: database.url });
    expect(await stored()).toMatchObject([{ payload: ["from stdin"] }, { payload: null }]);
  });

  it("takes a delay, or a time", async () => {
    await runCli(["enqueue", "tick", "--delay", "1h"], { url: database.url });
    await runCli(["enqueue", "tick", "--run-at", "2100-01-01T00:00:00Z"], { url: database.url });
    const { rows } = await database.pool.query(
      "select run_at > now() + interval '50 minutes' as delayed, run_at = '2100-01-01 00:00Z' as at from queue.jobs order by id",
    );
    expect(rows).toEqual([
      { delayed: true, at: false },
      { delayed: true, at: true },
    ]);
  });

  it.each([
    ["both a delay and a time", ["--delay", "1h", "--run-at", "2100-01-01"]],
    ["a priority out of range", ["--priority", "10"]],
    ["a hold that is none", ["--key", "k", "--key-holds", "for ever"]],
  ])("refuses %s", async (_name, args) => {
    const { code, stderr } = await runCli(["enqueue", "tick", ...args], { url: database.url });
    expect(code).toBe(2);
    expect(stderr).toContain("(INVALID_OPTION)");
    expect(await stored()).toEqual([]);
  });
});

describe("queue.config.ts", () => {
  // Inside the repository, so that the config finds the packages that it imports.
  const cache = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
  let folder: string;
  beforeAll(async () => {
    await mkdir(cache, { recursive: true });
    folder = await mkdtemp(join(cache, "cli-config-"));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const configure = (source: string, name = "queue.config.ts") => writeFile(join(folder, name), source);
  const withQueue = (more: string) => `
    import { createQueue, job } from "@queue/core";
    import { defineConfig } from "@queue/cli";
    import * as z from "zod";
    enum Lane { mail = "mail" } // needs more than stripping types
    const queue = createQueue({ jobs: { "mail.send": job({ payload: z.object({ to: z.email() }), lane: Lane.mail, keep: false }) } });
    export default defineConfig({ queue, ${more} });`;

  it("brings the connection string and the queue, whose kinds and payloads are checked", async () => {
    await configure(withQueue(`url: ${JSON.stringify(database.url)}`));
    const { code, json } = await runJson(["enqueue", "mail.send", '{"to":"ada@example.com"}'], { cwd: folder });
    expect({ code, json }).toMatchObject({ code: 0, json: { inserted: true, isChecked: true } });
    expect(await stored()).toMatchObject([{ kind: "mail.send", lane: "mail" }]);

    const wrongPayload = await runCli(["enqueue", "mail.send", '{"to":"ada"}'], { cwd: folder });
    expect(wrongPayload.code).toBe(2);
    expect(wrongPayload.stderr).toContain("(INVALID_PAYLOAD)");
    const wrongKind = await runCli(["enqueue", "mail.sent"], { cwd: folder });
    expect(wrongKind.code).toBe(2);
    expect(wrongKind.stderr).toContain("(UNKNOWN_KIND)");
  });

  it("comes after DATABASE_URL and the flags", async () => {
    await configure(withQueue(`url: "postgres://127.0.0.1:1/nothing"`));
    expect(await runCli(["jobs"], { cwd: folder, url: database.url })).toMatchObject({ code: 0, stdout: "No jobs.\n" });
    expect(await runCli(["jobs", "--url", database.url], { cwd: folder })).toMatchObject({ code: 0 });
    expect((await runCli(["jobs"], { cwd: folder })).stderr).toContain("ECONNREFUSED");
  });

  it("is another one, when --config names it", async () => {
    await configure(`export default { schema: "elsewhere" }`, "other.ts");
    const { stderr } = await runCli(["jobs", "--config", "other.ts"], { cwd: folder, url: database.url });
    expect(stderr).toContain('not in schema "elsewhere"');
    expect(await runCli(["jobs", "--config", "other.ts", "--schema", "queue"], { cwd: folder, url: database.url })).toMatchObject({
      code: 0,
    });
  });

  it.each([
    ["fails", `throw new Error("no environment")`, "could not be loaded: no environment"],
    ["exports something else", "export default 5;", "has to export"],
    ["has a misspelt member", "export default { uri: 'x' };", "but has uri"],
    ["has a queue that is none", "export default { queue: {} };", "made by createQueue()"],
  ])("is refused when it %s", async (_name, source, part) => {
    await configure(source);
    const { code, stderr } = await runCli(["status"], { cwd: folder, url: database.url });
    expect(code).toBe(2);
    expect(stderr).toContain(part);
  });
});
