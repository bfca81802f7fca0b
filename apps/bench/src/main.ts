import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Bench } from "./bench.js";
import { adapterReport, adapterSizes, quickAdapterSizes, runAdapters } from "./adapters/run-adapters.js";
import { runGrowth } from "./growth/run-growth.js";
import { aboutLines, describeRun } from "./machine/about.js";
import { startBenchServer } from "./machine/bench-server.js";
import { bringNode } from "./machine/bring-node.js";
import { findRedis } from "./machine/find-redis.js";
import { type BenchOptions, parseOptions, usage } from "./options.js";
import { measureChart } from "./report/measure-chart.js";
import { measureReport } from "./report/measure-report.js";
import { type MeasureResult, runMeasure } from "./run-measure.js";

const chartFolder = fileURLToPath(new URL("../../../docs/benchmarks/", import.meta.url));

const options = readOptions();
const node = await bringNode();
const redis = await findRedis();
const server = await startBenchServer();
const bench: Bench = { node, redis, server, sizes: options.sizes };
const about = describeRun({ node, server, redis, rounds: options.isGrowth ? 1 : options.sizes.rounds, isQuick: options.isQuick });
const say = (lines: readonly string[]) => (options.asJson ? undefined : console.log(lines.join("\n")));
/** Where the run is, on the terminal only: the report goes to the standard output. */
const progress = (line: string) => (process.stderr.isTTY ? process.stderr.write(`\r\u001B[2K${line}\r`) : undefined);

try {
  say([
    ...aboutLines(about),
    ...(redis === undefined ? ["BullMQ is left out: no Redis answers (REDIS_URL, or a redis-server on the PATH)."] : []),
  ]);
  const results = await (options.isGrowth ? growth(options) : options.isAdapters ? adapters(options) : measures(options));
  if (options.asJson) console.log(JSON.stringify({ ...about, results }, null, 2));
} finally {
  await server.stop();
  await redis?.stop();
}

async function measures({ measures: chosen, variants, withCharts }: BenchOptions): Promise<Readonly<Record<string, MeasureResult>>> {
  const results: Record<string, MeasureResult> = {};
  for (const measure of chosen) {
    const possible = variants.filter(({ side }) => side !== "bullmq" || redis !== undefined);
    const result = await runMeasure(bench, measure, possible, progress);
    results[measure.id] = result;
    progress("");
    say(["", ...measureReport(measure, result)]);
    if (withCharts) await draw(measure.id.toLowerCase(), measureChart(measure, result.summaries, about));
  }
  return results;
}

async function growth({ series, isQuick, withCharts }: BenchOptions) {
  return runGrowth({ bench, isQuick, series, progress, say, draw: withCharts ? draw : undefined, about });
}

async function adapters({ isQuick }: BenchOptions) {
  const results = await runAdapters(server, isQuick ? quickAdapterSizes : adapterSizes, progress);
  progress("");
  say(["", ...adapterReport(results)]);
  return results;
}

async function draw(name: string, svg: string): Promise<void> {
  await mkdir(chartFolder, { recursive: true });
  await writeFile(`${chartFolder}${name}.svg`, svg);
}

function readOptions(): BenchOptions {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}
