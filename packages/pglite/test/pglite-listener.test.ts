import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import type { ListenerEvents } from "@queue/core/adapter";
import { type OpenPglite, openPglite, pgliteListener } from "@queue/pglite";

let database: OpenPglite<unknown>;

beforeAll(async () => {
  database = await openPglite<unknown>();
});
afterAll(() => database.close());

const notify = (channel: string, payload: string) => database.pglite.query("select pg_notify($1, $2)", [channel, payload]);

function hear(): ListenerEvents & { readonly heard: string[] } {
  const heard: string[] = [];
  return {
    heard,
    onListening: () => heard.push("listening"),
    onNotification: (payload) => heard.push(payload),
    onError: (error) => heard.push(String(error)),
  };
}

describe("pgliteListener", () => {
  test("hears its own process, at the commit and not before", async () => {
    const events = hear();
    const subscription = await database.listener.listen("mine", events);
    await database.pglite.transaction(async (tx) => {
      await tx.query("select pg_notify('mine', 'in a transaction')");
      expect(events.heard).toEqual(["listening"]);
    });
    expect(events.heard).toEqual(["listening", "in a transaction"]);
    await notify("other", "not for us");
    await notify("mine", "");
    expect(events.heard).toEqual(["listening", "in a transaction", ""]);
    await subscription.close();
  });

  test("hears nothing of what was rolled back", async () => {
    const events = hear();
    const subscription = await database.listener.listen("rolled back", events);
    await database.pglite.transaction(async (tx) => {
      await tx.query("select pg_notify('rolled back', 'never')");
      await tx.rollback();
    });
    await notify("rolled back", "after");
    expect(events.heard).toEqual(["listening", "after"]);
    await subscription.close();
  });

  test.each(["MyQueue", "queue-1", 'with "quotes"', "ουρά", "q".repeat(63)])(
    "takes the name of the channel as it is: %s",
    async (channel) => {
      const events = hear();
      const subscription = await database.listener.listen(channel, events);
      await notify(channel, "heard");
      await subscription.close();
      await notify(channel, "unheard");
      expect(events.heard).toEqual(["listening", "heard"]);
    },
  );

  test("refuses a name that LISTEN and pg_notify take differently", async () => {
    await expect(database.listener.listen("q".repeat(64), hear())).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
  });

  test("leaves the others alone when one closes, also when it closes twice", async () => {
    const [first, second] = [hear(), hear()];
    const closing = await database.listener.listen("shared", first);
    const staying = await pgliteListener(database.pglite).listen("shared", second);
    await closing.close();
    await closing.close();
    await notify("shared", "still here");
    expect([first.heard, second.heard]).toEqual([["listening"], ["listening", "still here"]]);
    await staying.close();
  });

  test("calls back in the context of who listens, not of who committed", async () => {
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const subscription = await context.run("worker", () =>
      database.listener.listen("context", { ...hear(), onNotification: () => seen.push(context.getStore()) }),
    );
    await context.run("request", () => notify("context", "ring"));
    expect(seen).toEqual(["worker"]);
    await subscription.close();
  });

  test("has no executor: the one connection is the database's", async () => {
    const subscription = await database.listener.listen("executor", hear());
    expect(subscription.executor).toBeUndefined();
    await subscription.close();
  });

  test("rejects on a database that is closed", async () => {
    const closed = await openPglite<unknown>();
    await closed.close();
    await expect(closed.listener.listen("late", hear())).rejects.toThrow("closed");
  });
});
