import { describe, expect, test } from "vitest";
import { rejectionOf } from "../../test/support/thrown-by.js";
import type { Executor } from "./executor.js";
import { runToCommit } from "./run-to-commit.js";

const good = { sql: "select 2", parameters: [] };
const failing = { sql: "select 1 / 0", parameters: [] };

function sqlError(code: string): Error {
  return Object.assign(new Error("from the server"), { code });
}

/** A transaction as the server has it: after a failure every statement is refused. `answer` stands for what comes else. */
function aTransaction(answer: () => void = () => {}) {
  const sent: string[] = [];
  let isAborted = false;
  const executor: Executor = {
    adapter: "mine",
    scope: sent,
    async execute<R>({ sql }: { readonly sql: string }) {
      sent.push(sql);
      if (isAborted) throw sqlError("25P02");
      isAborted = sql === failing.sql;
      if (isAborted) throw sqlError("22012");
      answer();
      return { rows: [{ n: 2 }] as R[] };
    },
  };
  return { sent, executor };
}

describe("runToCommit", () => {
  test("resolves as its body does, and sends nothing of its own after a statement that succeeded", async () => {
    const { sent, executor } = aTransaction();
    const result = { rows: [] };
    const resolved = await runToCommit(executor, async (inner) => {
      expect(inner).toMatchObject({ adapter: "mine", scope: sent });
      expect(await inner.execute(good)).toEqual({ rows: [{ n: 2 }] });
      return result;
    });
    expect(resolved).toBe(result);
    expect(sent).toEqual([good.sql]);
  });

  test("rejects with what its body rejects with, and sends nothing then", async () => {
    const { sent, executor } = aTransaction();
    const thrown = new Error("no stock");
    expect(await rejectionOf(runToCommit(executor, () => Promise.reject(thrown)))).toBe(thrown);
    expect(sent).toEqual([]);
  });

  test("resolves when a body without statements has left the transaction sound", async () => {
    const { sent, executor } = aTransaction();
    expect(await runToCommit(executor, async () => "done")).toBe("done");
    expect(sent).toHaveLength(1);
  });

  test.each<[name: string, body: (inner: Executor, outer: Executor) => Promise<unknown>]>([
    ["of its executor", (inner) => inner.execute(failing).catch(() => {})],
    ["after one that succeeded", (inner) => inner.execute(good).then(() => inner.execute(failing).catch(() => {}))],
    ["before one that failed, too", (inner) => inner.execute(failing).catch(() => inner.execute(good).catch(() => {}))],
    ["of the library, before any other", (_inner, outer) => outer.execute(failing).catch(() => {})],
  ])("rejects when the error of a statement was swallowed: %s", async (_name, body) => {
    const { executor } = aTransaction();
    const error = await rejectionOf(runToCommit(executor, (inner) => body(inner, executor)));
    expect(error).toMatchObject({ name: "QueueError", code: "DATABASE_ERROR", sqlState: "25P02", isRetryable: false });
    expect(error.message).toContain("one of its statements had failed");
    expect(error.cause).toMatchObject({ code: "25P02" });
  });

  test("leaves an error that is another as it is", async () => {
    const lost = sqlError("57P01");
    const { executor } = aTransaction(() => {
      throw lost;
    });
    expect(await rejectionOf(runToCommit(executor, async () => {}))).toBe(lost);
  });
});
