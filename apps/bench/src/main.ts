import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { startEmbeddedServer } from "@queue/test-database";
import { openDatabase } from "./bench-queue.js";
import { enqueueMany } from "./measures/enqueue-many.js";
import type { Measure, Reading } from "./measures/measure.js";
import { processJobs } from "./measures/process.js";
import { startLatency } from "./measures/start-latency.js";
import { printSummary, summarize } from "./report.js";

const measures: readonly Measure[] = [enqueueMany, processJobs, startLatency];
/** Durable, as a user has it; memory as a server of two cores would get. */
const settings = { fsync: "on", full_page_writes: "on", shared_buffers: "1GB", max_wal_size: "4GB" };

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, json: { type: "boolean", default: false }, measure: { type: "string" } },
});
const rounds = values.quick ? 2 : 5;
const jobs = values.quick ? 30_000 : 100_000;
const chosen = measures.filter(({ name }) => values.measure === undefined || values.measure === name);
if (chosen.length === 0) {
  console.error(`--measure is one of ${measures.map(({ name }) => name).join(", ")}.`);
  process.exit(2);
}

const server = await startEmbeddedServer({ settings });
const db = openDatabase(server.url);
try {
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const about = { date: new Date().toISOString(), machine, postgres: server.version, settings, rounds, jobs };
  if (!values.json)
    console.log(
      `PostgreSQL ${server.version}, Node ${machine.node}, ${machine.cores} × ${machine.cpu}, ${rounds} rounds of ${jobs} jobs, fsync on`,
    );
  const results: Record<string, ReturnType<typeof summarize>> = {};
  for (const measure of chosen) {
    const readings: (readonly Reading[])[] = [];
    for (let round = 0; round < rounds; round++) readings.push(await measure.run({ db, url: server.url, jobs }));
    results[measure.name] = summarize(readings);
    if (!values.json) printSummary(measure.name, results[measure.name] ?? []);
  }
  if (values.json) console.log(JSON.stringify({ ...about, results }, null, 2));
} finally {
  await db.destroy();
  await server.stop();
}
