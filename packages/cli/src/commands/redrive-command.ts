import { progress } from "@clack/prompts";
import type { Admin, JobDefinitions, RedriveFilter, RedriveResult } from "@queue/core";
import { confirmBulk } from "../output/confirm-bulk.js";
import { exitCode } from "../output/exit-code.js";
import { UsageError } from "../output/usage-error.js";
import { instant, wholeNumber } from "./parse-number.js";
import { newCommand } from "./new-command.js";
import { runCommand } from "./run-command.js";

export function redriveCommand() {
  return newCommand("redrive", "return dead letters to the queue, with all their attempts; counts them first, and asks")
    .option("--kind <kind>")
    .option("--lane <lane>")
    .option("--dead-after <time>", "only what died after it, such as 2026-11-29T12:00:00Z", instant)
    .option("--limit <n>", "at most so many", wholeNumber)
    .option("--all", "all dead letters: needed when nothing else says which")
    .option("--dry-run", "only count")
    .option("--yes", "do not ask")
    .action(({ kind, lane, deadAfter, limit, all, dryRun, yes, ...options }) =>
      runCommand(options, async ({ admin, output }) => {
        if (kind === undefined && lane === undefined && deadAfter === undefined && all !== true) {
          throw new UsageError("Which dead letters? Give --kind, --lane or --dead-after, or --all for every one.");
        }
        const filter = { kind, lane, deadAfter, limit, all } satisfies RedriveFilter;
        const found = await admin.redrive({ ...filter, dryRun: true });
        if (dryRun === true) {
          output.json(found);
          return output.line(`${jobs(found.count)} would be redriven${but(found.conflicts)}.`);
        }
        if (found.count > 0 && !(await confirmBulk(output, `Redrive ${jobs(found.count)}?`, yes === true))) {
          output.line("Nothing was done.");
          return exitCode.failed;
        }
        const bar = output.isInteractive && found.count > partSize ? progress({ max: found.count }) : undefined;
        bar?.start("Redriving");
        const result = await redriveInParts(admin, filter, found, (done) => bar?.advance(done)).finally(() => bar?.clear());
        output.json(result);
        output.line(`${jobs(result.count)} redriven${but(result.conflicts)}.`);
      }),
    );
}

/** So many between two steps of the progress; one statement takes as many. */
const partSize = 1_000;

/** No more than were counted: what dies again meanwhile is left for the next time. */
async function redriveInParts(admin: Admin<JobDefinitions>, filter: RedriveFilter, found: RedriveResult, onPart: (done: number) => void) {
  const conflicts = new Set(found.conflicts);
  let count = 0;
  while (count < found.count) {
    const limit = Math.min(partSize, found.count - count);
    const part = await admin.redrive({ ...filter, limit });
    count += part.count;
    for (const id of part.conflicts) conflicts.add(id);
    onPart(part.count);
    if (part.count < limit) break;
  }
  return { count, dryRun: false, conflicts: [...conflicts] };
}

function jobs(count: number): string {
  return count === 1 ? "1 job" : `${count} jobs`;
}

function but(conflicts: readonly string[]): string {
  if (conflicts.length === 0) return "";
  return `; ${jobs(conflicts.length)} ${conflicts.length === 1 ? "stays" : "stay"} dead, because another job holds their key (${conflicts.slice(0, 5).join(", ")}${conflicts.length > 5 ? " …" : ""})`;
}
