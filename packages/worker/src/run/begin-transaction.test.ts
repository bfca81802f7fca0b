import { describe, expect, test } from "vitest";
import type { AdapterDatabase, Executor } from "@queue/core/adapter";
import { settlePromises } from "../../test/support/fake-clock.js";
import { deferred } from "../time/deferred.js";
import { beginTransaction, TransactionNotBegun } from "./begin-transaction.js";

const executor: Executor = { adapter: "test", execute: () => Promise.resolve({ rows: [] }) };

/** A library that rejects when its connection is lost, whatever its callback does at that moment. */
function losing(lost: Promise<never>): AdapterDatabase<string> {
  return { ...executor, transaction: (body) => Promise.race([body("trx", executor), lost]) };
}

describe("beginTransaction", () => {
  test.each(["resolves", "rejects"])("settles after its body has, also when the connection is lost before the body %s", async (how) => {
    const loss = deferred<never>();
    const work = deferred<string>();
    const settled: unknown[] = [];
    const transaction = beginTransaction(losing(loss.promise), () => work.promise).catch((error: unknown) => settled.push(error));
    loss.reject(new Error("lost"));
    await settlePromises();
    expect(settled).toEqual([]);
    if (how === "resolves") work.resolve("done");
    else work.reject(new Error("the handler's own"));
    await transaction;
    expect(settled).toEqual([new Error("lost")]);
  });

  test("says when the body was never called: then the handler has not begun", async () => {
    const cause = new Error("timeout exceeded when trying to connect");
    const refusing: AdapterDatabase<string> = { ...executor, transaction: () => Promise.reject(cause) };
    const error: unknown = await beginTransaction(refusing, () => Promise.resolve()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TransactionNotBegun);
    expect(error).toMatchObject({ cause });
  });

  test("gives back what the body gave, and rejects with what it rejected with", async () => {
    const db = losing(new Promise(() => {}));
    expect(await beginTransaction(db, (trx) => Promise.resolve(trx))).toBe("trx");
    const reason = new Error("no stock");
    await expect(beginTransaction(db, () => Promise.reject(reason))).rejects.toBe(reason);
  });
});
