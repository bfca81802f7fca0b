import { visible } from "../output/visible.js";
import { newCommand } from "./new-command.js";
import { runCommand } from "./run-command.js";

export function pauseCommand() {
  return newCommand("pause", "stop claims from a lane, for all workers; what runs goes on")
    .argument("<lane>")
    .action((lane, options) =>
      runCommand(options, async ({ admin, output }) => {
        await admin.pause(lane);
        output.json({ lane, paused: true });
        output.line(`Lane ${visible(lane)} is paused.`);
      }),
    );
}

export function resumeCommand() {
  return newCommand("resume", "let workers claim from a lane again")
    .argument("<lane>")
    .action((lane, options) =>
      runCommand(options, async ({ admin, output }) => {
        await admin.resume(lane);
        output.json({ lane, paused: false });
        output.line(`Lane ${visible(lane)} is not paused.`);
      }),
    );
}
