import { cpus } from "node:os";
import { judgeRun } from "./judge/judge-run.js";
import { mix } from "./mix.js";
import { headerLine, verdictLines, windowFigures, windowLine } from "./report.js";
import { runSoak } from "./run-soak.js";
import { parseSoakOptions } from "./soak-options.js";
import { windowsOf } from "./windows.js";

const options = parseSoakOptions(process.argv.slice(2));
/** For people; with `--json` they look at standard error, and the result alone is on standard output. */
const say = options.isJson ? console.error : console.log;

const { minutes, ratePerSecond, holdMinutes, seed, workers, producers, concurrency } = options;
say(
  `${minutes} minutes at ${ratePerSecond} jobs/s, a snapshot held for ${holdMinutes}, seed ${seed}: ${producers} producers, ${workers} workers of concurrency ${concurrency}; Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}\n`,
);
say(headerLine());

let told = 0;
const recording = await runSoak(options, ({ samples, hold }) => {
  const windows = windowsOf(samples, hold);
  for (const window of windows.slice(told)) say(windowLine(window));
  told = windows.length;
});
const windows = windowsOf(recording.samples, recording.hold);
const verdicts = judgeRun(recording);

say(`\n${verdictLines(verdicts).join("\n")}`);
if (options.isJson) {
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  const result = {
    date: new Date().toISOString(),
    machine,
    options,
    mix,
    hold: recording.hold,
    verdicts,
    windows: windows.map(windowFigures),
  };
  console.log(JSON.stringify(result, null, 2));
}
if (verdicts.some(({ outcome }) => outcome === "missed")) process.exitCode = 1;
