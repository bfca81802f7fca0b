import { describe, expect, test } from "vitest";
import { QueueError } from "@queue/core";
import { hearEvents } from "./describe-listener-events.js";
import type { ListenerSuite } from "./describe-listener-suite.js";

export function describeListenerHearing(suite: ListenerSuite): void {
  describe("listening", () => {
    test("hears what is notified on its channel and nothing else", async () => {
      const { events } = await suite.listen("mine");
      expect(events.listenings).toBe(1);
      await suite.notify("other", "not for us");
      await suite.notify("mine", "first");
      await suite.notify("mine", "");
      await events.until("notification", 2);
      expect(events.notifications).toEqual(["first", ""]);
      expect(events.errors).toEqual([]);
    });

    test.each(["MyQueue", "queue-1", 'with "quotes"', "ουρά", "q".repeat(63)])(
      "takes the name of the channel as it is: %s",
      async (channel) => {
        const { events } = await suite.listen(channel);
        await suite.notify(channel, "heard");
        await events.until("notification", 1);
        expect(events.notifications).toEqual(["heard"]);
      },
    );

    test.each(["", "q".repeat(64), "ο".repeat(32), "a\0b"])(
      "refuses a name that LISTEN and pg_notify take differently: %j",
      async (channel) => {
        await expect(suite.listener().listen(channel, hearEvents())).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
      },
    );

    test("is called queue listener in pg_stat_activity, unless the user has named it", async () => {
      const unnamed = await suite.listen("names");
      const named = await suite.listen("names", { applicationName: "shop worker" });
      const nameOf = (pid: number) => suite.run("select application_name as name from pg_stat_activity where pid = $1::int", [pid]);
      expect(await nameOf(await suite.backendOf(unnamed))).toEqual([{ name: "queue listener" }]);
      expect(await nameOf(await suite.backendOf(named))).toEqual([{ name: "shop worker" }]);
    });
  });

  describe("the statements of the subscription", () => {
    test("run on its own connection, one after the other", async () => {
      const listening = await suite.listen("statements");
      const { executor } = listening;
      const values = await Promise.all(
        [1, 2, 3].map(async (value) => (await executor.execute({ sql: "select $1::int as value", parameters: [value] })).rows[0]),
      );
      expect(values).toEqual([{ value: 1 }, { value: 2 }, { value: 3 }]);
      await expect(executor.execute({ sql: "select 1 / 0", parameters: [] })).rejects.toMatchObject({ code: "22012" });
      expect(await suite.backendOf(listening)).toBeGreaterThan(0);
    });

    test("run in the session that listens, and in no other: its locks go with the listening", async () => {
      const listening = await suite.listen("locks");
      const channels = async () => (await listening.executor.execute({ sql: listeningChannels, parameters: [] })).rows;
      const before = await suite.backendOf(listening);
      await listening.executor.execute({ sql: "select pg_advisory_lock_shared(1) as locked", parameters: [] });
      expect(await suite.run(holdersOfKeys)).toEqual([{ pid: before }]);
      expect(await channels()).toEqual([{ channel: "locks" }]);
      await suite.terminate(before);
      await listening.events.until("listening", 2);
      expect(await suite.run(holdersOfKeys)).toEqual([]);
      expect(await channels()).toEqual([{ channel: "locks" }]);
    });

    test("bring a session down with them that they end: nothing is connected again behind the listener's back", async () => {
      const { executor, events } = await suite.listen("suicide");
      const ending = executor.execute({ sql: "select pg_terminate_backend(pg_backend_pid())", parameters: [] });
      await expect(ending).rejects.toMatchObject(suite.whenTerminated.statement);
      await events.until("listening", 2);
      expect(events.errors).toHaveLength(1);
      await suite.notify("suicide", "heard");
      await events.until("notification", 1);
    });
  });

  describe("a connection that is up", () => {
    test("is asked for a sign of life only while it is silent, and stays the same", async () => {
      const listening = await suite.listen("alive", { keepAlive: "10ms" });
      const before = await suite.backendOf(listening);
      const asked = () => suite.run("select query from pg_stat_activity where pid = $1::int", [before]);
      await expect.poll(asked, { timeout: 15_000 }).toEqual([{ query: "select 1" }]);
      expect(await suite.backendOf(listening)).toBe(before);
      expect(listening.events.errors).toEqual([]);
    });
  });
}

const listeningChannels = "select pg_listening_channels() as channel";
/** In this database: others on the server hold keys of their own. */
const holdersOfKeys =
  "select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())";
