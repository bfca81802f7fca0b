import { Command } from "@commander-js/extra-typings";
import { cancelCommand, retryCommand } from "./commands/act-on-job-commands.js";
import { doctorCommand } from "./commands/doctor-command.js";
import { enqueueCommand } from "./commands/enqueue-command.js";
import { jobCommand } from "./commands/job-command.js";
import { jobsCommand } from "./commands/jobs-command.js";
import { pauseCommand, resumeCommand } from "./commands/lane-commands.js";
import { migrateCommand } from "./commands/migrate-command.js";
import { redriveCommand } from "./commands/redrive-command.js";
import { statusCommand } from "./commands/status-command.js";
import { exitCode } from "./output/exit-code.js";

const exitCodes = `
Exit codes: 0 fine, 1 failed or refused, 2 wrong usage (nothing was done), 3 doctor found something.`;

/** The program `queue`, with all its commands. */
export function createProgram(version: string) {
  const program = new Command("queue")
    .description("Operate a durable job queue in PostgreSQL.")
    .version(version)
    .addHelpText("after", exitCodes);
  const commands = [
    migrateCommand(),
    statusCommand(),
    jobsCommand(),
    jobCommand(),
    enqueueCommand(),
    retryCommand(),
    redriveCommand(),
    cancelCommand(),
    pauseCommand(),
    resumeCommand(),
    doctorCommand(),
  ];
  for (const command of commands) program.addCommand(command);
  for (const command of [program, ...program.commands]) {
    // Commander would end the process, with 1; what it writes is enough.
    command.exitOverride((error) => {
      process.exitCode = error.exitCode === 0 ? exitCode.fine : exitCode.usage;
      throw error;
    });
  }
  return program;
}
