import { queueError } from "@queue/core/adapter";
import { newCommand } from "./new-command.js";
import { renderJob } from "./render-job.js";
import { runCommand } from "./run-command.js";

export function jobCommand() {
  return newCommand("job", "all of one job, live or archived, with its failures")
    .argument("<id>")
    .action((id, options) =>
      runCommand(options, async ({ admin, output }) => {
        const job = await admin.job(id);
        if (job === null) throw queueError("JOB_NOT_FOUND", `There is no job ${id}, live or in the archive.`, { jobId: id });
        output.json(job);
        output.line(renderJob(output, job));
      }),
    );
}
