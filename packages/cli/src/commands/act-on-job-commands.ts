import { newCommand } from "./new-command.js";
import { runCommand } from "./run-command.js";

export function retryCommand() {
  return newCommand("retry", "let one job run now: a dead one with all its attempts again")
    .argument("<id>")
    .action((id, options) =>
      runCommand(options, async ({ admin, output }) => {
        const job = await admin.retry(id);
        output.json(job);
        output.line(`Job ${id} is ${job.status}.`);
      }),
    );
}

export function cancelCommand() {
  return newCommand("cancel", "end one job, also a running one")
    .argument("<id>")
    .action((id, options) =>
      runCommand(options, async ({ admin, output }) => {
        const job = await admin.cancel(id);
        output.json(job);
        output.line(`Job ${id} is ${job.status}.`);
      }),
    );
}
