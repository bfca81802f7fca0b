import { useTestDatabase } from "@queue/test-database";
import { describe, expect, it } from "vitest";
import { runCli } from "./support/run-cli.js";

const database = useTestDatabase({ template: "empty" });

describe("wrong usage ends with 2, and one sentence", () => {
  it.each([
    ["an unknown command", ["nope"], "unknown command 'nope'"],
    ["an unknown option", ["status", "--bogus"], "unknown option '--bogus'"],
    ["a missing argument", ["job"], "missing required argument 'id'"],
    ["an argument too many", ["status", "more"], "too many arguments"],
    ["a number that is none", ["jobs", "--limit", "many"], "It has to be a whole number."],
    ["a limit out of range", ["jobs", "--limit", "2000"], "limit"],
    ["a time that is none", ["redrive", "--dead-after", "yesterday"], "It has to be a time such as"],
    ["a duration that is none", ["doctor", "--held-for", "soon"], "--held-for"],
    ["a status that is none", ["jobs", "--status", "lost"], "status must be one of queued"],
    ["an id that is none", ["job", "x"], "id must be the id of a job"],
    ["a payload that is no JSON", ["enqueue", "mail", "{"], "The payload is no JSON"],
    ["no filter for a redrive", ["redrive"], "Which dead letters?"],
    ["a config that is not there", ["status", "--config", "nothing.ts"], "There is no config"],
  ])("%s", async (_name, args, part) => {
    const { code, stdout, stderr } = await runCli(args, { url: database.url });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(part);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("no command: the help, on standard error", async () => {
    const { code, stderr } = await runCli([]);
    expect(code).toBe(2);
    expect(stderr).toContain("Exit codes: 0 fine, 1 failed or refused, 2 wrong usage");
  });

  it("no database", async () => {
    const { code, stderr } = await runCli(["status"]);
    expect(code).toBe(2);
    expect(stderr).toBe("queue: No database is named: give --url postgres://…, set DATABASE_URL, or export url in queue.config.ts.\n");
  });

  it("a connection string that is none, without repeating the password in it", async () => {
    const { code, stderr } = await runCli(["status", "--url", "user:secret@host"]);
    expect(code).toBe(2);
    expect(stderr).not.toContain("secret");
  });
});

describe("what was asked for and failed ends with 1", () => {
  it("a server that is not there", async () => {
    const { code, stdout, stderr } = await runCli(["status"], { url: "postgres://127.0.0.1:1/nothing" });
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr: "queue: connect ECONNREFUSED 127.0.0.1:1 (ECONNREFUSED)\n",
    });
  });

  it("tables that are not there, with the code; as JSON when that was asked for", async () => {
    const { code, stderr } = await runCli(["status"], { url: database.url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^queue: The tables of the queue are not in schema "queue" .* \(SCHEMA_MISSING\)\n$/);
    const json = await runCli(["status", "--json"], { url: database.url });
    expect([json.code, json.stdout]).toEqual([1, ""]);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "SCHEMA_MISSING" } });
  });
});

describe("help and version end with 0", () => {
  it.each([[["--help"]], [["status", "--help"]], [["--version"]]])("%j", async (args) => {
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
  });
});
