import { InvalidArgumentError } from "@commander-js/extra-typings";
import { QueueError } from "@queue/core";
import { type Duration, parseDuration } from "@queue/core/adapter";
import { type Examination, examine } from "../doctor/examine.js";
import { exitCode } from "../output/exit-code.js";
import type { Output } from "../output/output.js";
import { visible } from "../output/visible.js";
import { newCommand } from "./new-command.js";
import { wholeNumber } from "./parse-number.js";
import { runCommand } from "./run-command.js";

export function doctorCommand() {
  return newCommand(
    "doctor",
    "look for what is wrong with the tables, the rights, the connection and the server; ends with 3 if it finds any",
  )
    .option("--role <name>", "whose rights to look at (default: those of the connection)")
    .option("--held-for <duration>", "how old a transaction may be", duration, 600_000)
    .option("--dead-rows <n>", "how many ended rows may wait", wholeNumber, 1_000_000)
    .option("--clock <duration>", "how far the clocks may be apart", duration, 1_000)
    .option("--listen <duration>", "how long a notification may take", duration, 5_000)
    .action((options) =>
      runCommand(options, async ({ output, ...connection }) => {
        const { heldFor: heldForMs, deadRows, clock: clockMs, listen: listenMs } = options;
        const examinations: Examination[] = [];
        const thresholds = { heldForMs, deadRows, clockMs, listenMs };
        for await (const examination of examine(connection, { thresholds, role: options.role ?? null })) {
          examinations.push(examination);
          show(output, examination);
        }
        const found = examinations.reduce((total, { findings }) => total + findings.length, 0);
        output.json({ found, checks: examinations });
        output.line(found === 0 ? "\nNothing is wrong." : `\n${found === 1 ? "1 thing is" : `${found} things are`} wrong.`);
        return found === 0 ? exitCode.fine : exitCode.found;
      }),
    );
}

function duration(text: string): number {
  try {
    return parseDuration((/^\d+$/.test(text) ? Number(text) : text) as Duration, "it");
  } catch (error) {
    throw new InvalidArgumentError(QueueError.is(error) ? error.message : String(error));
  }
}

function show({ line, colors }: Output, { check, status, findings, reason }: Examination): void {
  if (status === "fine") return line(`${colors.green("fine")}     ${check}`);
  if (status === "skipped") return line(`${colors.yellow("skipped")}  ${check}: ${visible(reason ?? "")}`);
  line(`${colors.red("found")}    ${check}`);
  for (const { message, advice } of findings) {
    line(`           ${visible(message)}`);
    line(`           ${colors.dim(visible(advice))}`);
  }
}
