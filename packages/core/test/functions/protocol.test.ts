import { readFile } from "node:fs/promises";
import { backoffCeilingMs, notificationChannel } from "@queue/core/internal";
import { useTestDatabase } from "@queue/test-database";
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { bellKeys } from "../../src/store/bell-keys.js";
import { schemaFunctions, schemaPlans } from "../../src/functions/install-functions.js";
import { openSession } from "../support/session.js";

const guide = await readFile(new URL("../../../../docs/protocol.md", import.meta.url), "utf8");
const database = useTestDatabase();
const blocks = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = ""]) => sql);
/** They are parts of others, or for TypeScript, and promised to nobody. */
const parts = new Set([
  ..."check_name duration_ms insert_jobs instant_text interval_ms option_text prepare_job requeue_job whole_number".split(" "),
  ...schemaPlans("queue").map(({ name }) => name),
]);

describe("the protocol", () => {
  test("has queries", () => {
    expect(blocks.length).toBeGreaterThan(12);
  });

  test.each(blocks.map((sql, index) => ({ name: `${index + 1}: ${sql.split("\n")[0]}`, sql })))(
    "has a query that runs, $name",
    async ({ sql }) => {
      const client = await database.newPool({ max: 1 }).connect();
      try {
        const results = [await client.query(sql)].flat() as pg.QueryResult[];
        expect(results.length).toBeGreaterThan(0);
      } finally {
        // Its locks, its LISTEN and its settings go with it.
        client.release(true);
      }
    },
  );

  test("lists every function with its parameters and defaults, and no other", () => {
    const listed = [...guide.matchAll(/^\| `(\w+\([^`]*\))` \|/gm)].map(([, signature]) => signature);
    const made = schemaFunctions("queue")
      .filter(({ name }) => !parts.has(name))
      .map(
        ({ name, parameters }) =>
          `${name}(${parameters.map(([parameter, , standard]) => (standard === undefined ? parameter : `${parameter} = ${standard}`)).join(", ")})`,
      );
    expect(listed.toSorted()).toEqual(made.toSorted());
  });

  test("names the columns of a claim, the channel and the bell's keys as they are", () => {
    const claim = schemaFunctions("queue").find(({ name }) => name === "claim");
    const columns = [...(claim?.returns ?? "").matchAll(/(\w+) (?:bigint|text|integer|jsonb|timestamptz)/g)].map(([, name]) => name);
    expect(columns).toHaveLength(11);
    expect(guide).toContain(`\`${columns.join(", ")}\``);
    const channel = notificationChannel("queue");
    expect(guide).toContain(`listen ${channel};`);
    expect(bellKeys("queue")).toEqual({ any: `${channel}.bell`, everyLane: `${channel}.bell.*`, lanePrefix: `${channel}.bell.lane ` });
  });

  test("leads every link within itself to a heading", () => {
    const anchors = [...guide.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    );
    for (const [, anchor] of guide.replaceAll(/\n/g, " ").matchAll(/\]\(#([^)]+)\)/g)) expect(anchors).toContain(anchor);
  });

  test("has the limits of back-off that TypeScript has", () => {
    expect(guide).toContain("min(backoff_cap, backoff_base · 2^(n − 1))");
    expect([1, 2, 3, 100].map((attempt) => backoffCeilingMs(attempt))).toEqual([2_000, 4_000, 8_000, 300_000]);
  });
});

test("a program that follows it: enqueues, claims, heartbeats, snoozes, fails, completes, each under its fence", async () => {
  await using session = await openSession(database.url);
  await session.query("delete from queue.jobs");
  const [{ id } = { id: "" }] = await session.query<{ id: string }>("select id from queue.enqueue('a', '{}', '{\"maxAttempts\": 2}')");
  const claim = async () =>
    (await session.query<{ fence: number; attempt: number }>("select fence, attempt from queue.claim(null, '{a}', 1, 'w')"))[0];
  const dueNow = () => session.query("update queue.jobs set run_at = clock_timestamp()");
  expect(await claim()).toEqual({ fence: 1, attempt: 1 });
  expect(await session.query("select held from queue.heartbeat('w', array[$1::bigint], '{1}')", [id])).toEqual([{ held: true }]);
  expect(await session.query("select queue.snooze('w', $1, 1, '0 s') as ok", [id])).toEqual([{ ok: true }]);
  await dueNow();
  expect(await claim()).toEqual({ fence: 2, attempt: 1 });
  expect(await session.query("select queue.complete('w', $1, 1) as ok", [id])).toEqual([{ ok: false }]);
  expect(await session.query("select queue.fail('w', $1, 2, 'no') as became", [id])).toEqual([{ became: "queued" }]);
  await dueNow();
  expect(await claim()).toEqual({ fence: 3, attempt: 2 });
  expect(await session.query("select queue.complete('w', $1, 3) as ok", [id])).toEqual([{ ok: true }]);
  expect(await session.query("select status from queue.all_jobs where id = $1", [id])).toEqual([{ status: "done" }]);
});
