import { describe, expect, test } from "vitest";
import type { ListenerSuite } from "./describe-listener-suite.js";

export function describeListenerLosses(suite: ListenerSuite): void {
  describe("a lost connection", () => {
    test("is made again: it listens on, and the loss was reported once", async () => {
      const listening = await suite.listen("lost");
      const { events } = listening;
      const before = await suite.backendOf(listening);
      await suite.terminate(before);
      await events.until("listening", 2);
      expect(events.errors).toHaveLength(1);
      expect(events.errors[0]).toMatchObject(suite.whenTerminated.loss);
      expect(await suite.backendOf(listening)).not.toBe(before);
      await suite.notify("lost", "again");
      await events.until("notification", 1);
      expect(events.notifications).toEqual(["again"]);
    });

    test("is reported once each time", async () => {
      const listening = await suite.listen("lost-often");
      for (const round of [1, 2, 3]) {
        await suite.terminate(await suite.backendOf(listening));
        await listening.events.until("listening", round + 1);
        expect(listening.events.errors).toHaveLength(round);
      }
    });

    test("rejects the statements that run or wait, with an error that is worth a retry", async () => {
      const listening = await suite.listen("lost-busy");
      const pid = await suite.backendOf(listening);
      const running = listening.executor.execute({ sql: "select pg_sleep(60)", parameters: [] });
      const waiting = listening.executor.execute({ sql: "select 1", parameters: [] });
      const outcomes = Promise.allSettled([running, waiting]);
      const stateOfSleeper = () => suite.run("select state from pg_stat_activity where pid = $1::int and query like '%pg_sleep%'", [pid]);
      await expect.poll(stateOfSleeper).toEqual([{ state: "active" }]);
      await suite.terminate(pid);
      const [first, second] = await outcomes;
      expect(first).toMatchObject({ status: "rejected", reason: suite.whenTerminated.statement });
      expect(second).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR", isRetryable: true } });
    });

    test("is given up on a server that became read-only, where nothing of ours can work", async () => {
      const listening = await suite.listen("read-only");
      const { executor, events } = listening;
      const before = await suite.backendOf(listening);
      await executor.execute({ sql: "set default_transaction_read_only = on", parameters: [] });
      await expect(executor.execute({ sql: "create table t (id int)", parameters: [] })).rejects.toMatchObject({ code: "25006" });
      await events.until("listening", 2);
      expect(events.errors).toHaveLength(1);
      expect(await suite.backendOf(listening)).not.toBe(before);
    });
  });

  describe("a first attempt that fails", () => {
    test("resolves, is reported once, and is made again until it succeeds", async () => {
      const proxy = await suite.openProxy();
      proxy.treatment = "refuse";
      const { subscription, executor, events } = await suite.listen("late", { url: proxy.url });
      expect(events.listenings).toBe(0);
      expect(subscription.isUp).toBe(false);
      await expect(executor.execute({ sql: "select 1", parameters: [] })).rejects.toMatchObject({
        code: "DATABASE_ERROR",
        isRetryable: true,
      });
      await proxy.untilConnections(3);
      proxy.treatment = "forward";
      await events.until("listening", 1);
      expect(subscription.isUp).toBe(true);
      expect(events.errors).toHaveLength(1);
      await suite.notify("late", "there");
      await events.until("notification", 1);
    });

    test("does not wait for ever for a server that says nothing", async () => {
      const proxy = await suite.openProxy();
      proxy.treatment = "silence";
      const { events } = await suite.listen("silent", { url: proxy.url, connectTimeoutMs: 100 });
      expect(events.errors).toHaveLength(1);
      proxy.treatment = "forward";
      await events.until("listening", 1);
    });
  });

  describe("a half-open connection", () => {
    test("is found out by its silence and made again; a statement that waits on it is rejected", async () => {
      const proxy = await suite.openProxy();
      const listening = await suite.listen("half-open", { url: proxy.url, keepAlive: "100ms" });
      const { executor, events } = listening;
      const before = await suite.backendOf(listening);
      proxy.stall();
      const statement = executor.execute({ sql: "select 1", parameters: [] });
      await expect(statement).rejects.toMatchObject({ code: "DATABASE_ERROR", isRetryable: true });
      await events.until("listening", 2);
      expect(events.errors).toHaveLength(1);
      expect(String(events.errors[0])).toContain("silent for too long");
      expect(await suite.backendOf(listening)).not.toBe(before);
      await suite.notify("half-open", "again");
      await events.until("notification", 1);
    });

    test("does not keep close() waiting", async () => {
      const proxy = await suite.openProxy();
      const { subscription, events } = await suite.listen("half-open-close", { url: proxy.url });
      proxy.stall();
      await subscription.close();
      expect(events.errors).toEqual([]);
    });
  });
}
