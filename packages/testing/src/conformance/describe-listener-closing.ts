import { describe, expect, test } from "vitest";
import type { ListenerSuite } from "./describe-listener-suite.js";

export function describeListenerClosing(suite: ListenerSuite): void {
  describe("close", () => {
    test("ends the session on the server and leaves neither sockets nor timers, also when called twice", async () => {
      // Loads the driver and opens the other connection before the count.
      await suite.listen("warm-up");
      await suite.run("select 1");
      const before = resources();
      const listening = await suite.listen("closed");
      const { subscription, executor, events } = listening;
      const pid = await suite.backendOf(listening);
      await Promise.all([subscription.close(), subscription.close()]);
      await subscription.close();
      await expect.poll(() => suite.run("select 1 from pg_stat_activity where pid = $1::int", [pid])).toEqual([]);
      await expect.poll(resources).toEqual(before);
      await suite.notify("closed", "unheard");
      expect(events.notifications).toEqual([]);
      expect(events.errors).toEqual([]);
      await expect(executor.execute({ sql: "select 1", parameters: [] })).rejects.toMatchObject({ code: "DATABASE_ERROR" });
    });

    test("works while it connects", async () => {
      const proxy = await suite.openProxy();
      const listening = await suite.listen("closed-connecting", { url: proxy.url });
      proxy.treatment = "silence";
      await suite.terminate(await suite.backendOf(listening));
      await proxy.untilConnections(2);
      await listening.subscription.close();
      expect(listening.events.listenings).toBe(1);
      expect(listening.events.errors).toHaveLength(1);
    });

    test("works while it waits to connect again", async () => {
      const proxy = await suite.openProxy();
      proxy.treatment = "refuse";
      const { subscription, events } = await suite.listen("closed-waiting", { url: proxy.url });
      await proxy.untilConnections(3);
      await subscription.close();
      expect(events.listenings).toBe(0);
    });

    test("rejects the statements that are still on their way", async () => {
      const { subscription, executor } = await suite.listen("closed-busy");
      const outcomes = Promise.allSettled([1, 2].map(() => executor.execute({ sql: "select pg_sleep(60)", parameters: [] })));
      await subscription.close();
      for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: "rejected", reason: { code: "DATABASE_ERROR" } });
    });
  });
}

function resources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap" || name === "Timeout");
}
