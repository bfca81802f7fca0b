import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { useWorkers } from "../support/use-workers.js";
import { program, runProgram } from "./support/run-program.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { works: job<string>() } });

describe("a process whose globals others have changed", () => {
  test.each([
    [
      "Object.prototype has got properties",
      "Object.prototype.delay = '1h'; Object.prototype.toJSON = undefined; Object.prototype.timeout = 1;",
    ],
    ["Array.prototype has got a method", "Array.prototype.last = function () { return this.at(-1); };"],
    [
      "Date is another clock, an hour off",
      "const Real = Date; globalThis.Date = class extends Real { constructor(...a) { a.length ? super(...a) : super(Real.now() + 3_600_000); } static now() { return Real.now() + 3_600_000; } };",
    ],
    ["Math.random stands still", "Math.random = () => 0;"],
    ["JSON.stringify sorts and indents", "const s = JSON.stringify; JSON.stringify = (v, r) => s(v, r, 2);"],
  ])("%s: jobs are done all the same", async (_what, head) => {
    const { id } = await queue.enqueue(workers.db, "works", "x");
    const { code, output } = await runProgram(program("if (job.payload !== 'x') throw new Error('payload');", head), workers.database.url);
    expect([code, output]).toEqual([0, ""]);
    expect(await workers.job(id)).toMatchObject({ status: "done", attempts: 1 });
  });
});
