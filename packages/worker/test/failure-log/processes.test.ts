import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { useWorkers } from "../support/use-workers.js";
import { program, runProgram } from "./support/run-program.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job<string>({ maxAttempts: 3, backoff: { base: 1, cap: 1 } }) } });

describe("a handler that ends its process", () => {
  test.each([
    ["by process.exit", "process.exit(3);", 3],
    ["by a rejection that nobody handles", "void Promise.reject(new Error('detached')); await new Promise(() => {});", 1],
  ])("%s leaves its job to its lease, with the attempt spent", async (_how, handler, code) => {
    const { id } = await queue.enqueue(workers.db, "works", "x");
    expect(await runProgram(program(handler), workers.database.url)).toMatchObject({ code });
    expect(await workers.job(id)).toMatchObject({ status: "running", attempts: 1 });
  });

  test("each time is dead after its last attempt, and kills no further process", async () => {
    const { id } = await queue.enqueue(workers.db, "works", "x", { maxAttempts: 2 });
    for (let life = 1; life <= 2; life++) {
      expect(await runProgram(program("process.exit(3);"), workers.database.url)).toMatchObject({ code: 3 });
      await workers.sqlUntil(`select from queue.jobs where id = ${id} and locked_until < now()`);
    }
    expect(await runProgram(program("process.exit(3);"), workers.database.url)).toMatchObject({ code: 0 });
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: 2 });
  });
});

describe("B57: two copies of the packages in one process, by import and by require", () => {
  const throwers = {
    "the required copy's PermanentError": "throw new (require('@queue/core').PermanentError)('for good');",
    "a copy with another address": "throw new (await import(import.meta.resolve('@queue/core') + '?again')).PermanentError('for good');",
    "one that came through a worker thread": `
      const { Worker } = require("node:worker_threads");
      const thread = new Worker("const e = new Error('for good'); e.name = 'PermanentError'; require('node:worker_threads').parentPort.postMessage({ name: e.name, message: e.message })", { eval: true, execArgv: [] });
      const [told] = await require("node:events").once(thread, "message");
      throw Object.assign(new Error(told.message), { name: told.name });`,
  };

  test.each(Object.entries(throwers))("%s is dead at its first attempt", async (_name, handler) => {
    const { id } = await queue.enqueue(workers.db, "works", "x");
    const { code, output } = await runProgram(program(handler), workers.database.url);
    expect([code, output.replaceAll(/.*ExperimentalWarning.*\n.*\n/g, "")]).toEqual([0, ""]);
    expect(await workers.job(id)).toMatchObject({ status: "dead", attempts: 1, last_error: "for good" });
  });

  test("a queue of one copy is worked by the worker of another", async () => {
    const { id } = await queue.enqueue(workers.db, "works", "x");
    const text = program("return;").replace("queue = createQueue", "queue = require('@queue/core').createQueue");
    expect(await runProgram(text, workers.database.url)).toMatchObject({ code: 0 });
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  });
});
