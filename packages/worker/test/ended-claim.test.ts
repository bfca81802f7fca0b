import { describe, expect, test } from "vitest";
import { createQueue, job } from "@queue/core";
import { clientListener } from "./support/client-listener.js";
import { passBy as passJobsBy } from "./support/pass-by.js";
import { until } from "./support/until.js";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { a: job<{ n: number }>() } });
const passBy = (ms: number) => passJobsBy(workers, () => queue.enqueue(workers.db, "a", { n: 0 }), ms);

describe("a claim that is ended by the server while it holds jobs that were due long ago", () => {
  test.each([1, 2])("leaves nothing behind, however far other claims have read meanwhile, of %i workers", async (count) => {
    const application_name = "the worker that claims first";
    await workers.sql(`
      create function hold_back() returns trigger language plpgsql as $$
        begin
          if old.status = 'queued' and old.payload->>'n' = '-1' then perform pg_advisory_xact_lock(4242); end if;
          return new;
        end $$;
      create trigger hold_back before update on queue.jobs for each row execute function hold_back()`);
    const lock = await workers.database.pool.connect();
    try {
      await lock.query("select pg_advisory_lock(4242)");
      const start = (name: string) =>
        workers.start({
          queue,
          db: workers.open({ application_name: name }),
          pollInterval: "60s",
          listener: clientListener(workers.database.url),
          // More than one claim asks for, so that a second one goes on meanwhile.
          concurrency: 600,
          handlers: { a: () => {} },
        });
      await start(application_name);
      await passBy(0);
      const ids = (
        await workers.sql<{ id: string }>(
          "insert into queue.jobs (kind, payload, run_at) select 'a', json_build_object('n', -n), now() - interval '1 hour' from generate_series(1, 5) n returning id::text",
        )
      ).map(({ id }) => id);
      const isWaiting = "select pid from pg_stat_activity where wait_event = 'advisory' and application_name = $1";
      await until(async () => (await workers.sql(isWaiting, [application_name])).length > 0, "a claim that waits");
      // Others pass over what it has locked, and read on.
      await passBy(400);
      if (count === 2) {
        await start("the other worker");
        await passBy(400);
      }
      expect(await workers.sql("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'advisory'")).toHaveLength(1);
      await lock.query("select pg_advisory_unlock(4242)");
      await until(
        async () => (await workers.jobs()).filter(({ id, status }) => ids.includes(id) && status === "done").length === 5,
        "the five jobs done",
      );
      expect((await workers.jobs()).filter(({ attempts, claims }) => attempts !== 1 || claims !== 1)).toEqual([]);
    } finally {
      lock.release(true);
      await workers.sql("drop function hold_back() cascade");
    }
  });
});
