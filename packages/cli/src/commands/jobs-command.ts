import type { JobRecord } from "@queue/core";
import { showInstant } from "../output/instant.js";
import { renderTable } from "../output/table.js";
import { wholeNumber } from "./parse-number.js";
import { newCommand } from "./new-command.js";
import { runCommand } from "./run-command.js";

export function jobsCommand() {
  return newCommand("jobs", "list jobs, newest first")
    .option("--status <status>", "queued, waiting, running, dead, done or cancelled")
    .option("--kind <kind>")
    .option("--lane <lane>")
    .option("--limit <n>", "from 1 to 1000", wholeNumber, 50)
    .option("--after <id>", "the next page: what the page before says")
    .action(({ status, kind, lane, limit, after, ...options }) =>
      runCommand(options, async ({ admin, output }) => {
        // Whatever else it is, admin.jobs refuses it.
        const page = await admin.jobs({ status: status as JobRecord["status"] | undefined, kind, lane, limit, after });
        output.json(page);
        if (page.items.length === 0) return output.line("No jobs.");
        const rows = page.items.map((job) => [
          job.id,
          job.kind,
          job.lane,
          job.status,
          `${job.attempts}/${job.maxAttempts}`,
          showInstant(job.finishedAt ?? job.runAt),
          job.lastError,
        ]);
        output.line(renderTable(output, ["id", "kind", "lane", "status", "attempts", "due or ended", "last error"], rows));
        if (page.next !== null) output.line(output.colors.dim(`More: add --after ${page.next}`));
      }),
    );
}
