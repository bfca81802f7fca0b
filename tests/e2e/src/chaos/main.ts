import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { ChaosWorld } from "./chaos-world.js";
import { faults as allFaults } from "./faults.js";
import { judge } from "./oracle.js";
import { seededRandom } from "./seeded-random.js";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "60" },
    seed: { type: "string", default: "1" },
    rate: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const faults = allFaults.filter(({ name }) => values.only === undefined || name.includes(values.only));
const random = seededRandom(Number(values.seed));
const settleMs = 120_000;

const world = await ChaosWorld.begin({ workers: 4, producers: 2, rate: Number(values.rate) });
const injected = new Map(faults.map(({ name }) => [name, 0]));
try {
  const endsAt = performance.now() + seconds * 1_000;
  await pause(2_000);
  for (let turn = 0; performance.now() < endsAt; turn++) {
    // Every fault in its turn, in a new order each time, so that short runs have all of them.
    const order = faults.map((fault) => ({ fault, at: random() })).sort((a, b) => a.at - b.at);
    for (const { fault } of order) {
      if (performance.now() >= endsAt) break;
      await fault.inject(world, random);
      injected.set(fault.name, (injected.get(fault.name) ?? 0) + 1);
      await pause(100 + random() * 900);
    }
  }
  await world.stopProducing();
  await untilSettled();
  await showOpen();
  await world.stopWorking();
  report(await judge(world));
} finally {
  await world.end();
}

async function untilSettled(): Promise<void> {
  const deadline = performance.now() + settleMs;
  while (performance.now() < deadline) {
    const { rows } = await sql<{ open: string }>`select count(*) as open from queue.jobs where status <> 'dead'`.execute(world.db);
    if (rows[0]?.open === "0") return;
    await pause(250);
  }
}

/** What did not end, and who should have ended it. */
async function showOpen(): Promise<void> {
  const open = await sql<{ kind: string; status: string; count: string }>`
    select kind, status::text, count(*) from queue.jobs where status <> 'dead' group by 1, 2`.execute(world.db);
  if (open.rows.length === 0) return;
  const workers = await sql`select id, kinds, expires_at - now() as expires_in from queue.workers`.execute(world.db);
  console.log(
    "open",
    open.rows,
    "workers",
    workers.rows,
    "processes",
    world.workers.map(({ pid }) => pid),
  );
}

function report({ jobs, runs, violations, longestRecoveryMs }: Awaited<ReturnType<typeof judge>>): void {
  console.log(
    `\n${[...injected.values()].reduce((sum, count) => sum + count, 0)} faults, ${jobs} jobs, ${runs} runs, seed ${values.seed}, ${seconds} s\n`,
  );
  for (const [name, count] of injected) console.log(`  ${name.padEnd(36)} ${String(count).padStart(5)} times`);
  console.log(`\n  ${"longest recovery from a death".padEnd(36)} ${String(Math.round(longestRecoveryMs)).padStart(5)} ms`);
  for (const [name, count] of Object.entries(violations)) console.log(`  ${name.padEnd(36)} ${String(count).padStart(5)}`);
  for (const crash of world.crashes) console.log(`  ${crash}`);
  if (Object.values(violations).some((count) => count !== 0) || world.crashes.length > 0) process.exitCode = 1;
}
