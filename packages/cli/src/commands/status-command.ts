import { wait } from "../connect/wait.js";
import { describeFailure } from "../output/describe-failure.js";
import { showInstant } from "../output/instant.js";
import { LiveView } from "../output/live-view.js";
import { wholeNumber } from "./parse-number.js";
import { newCommand } from "./new-command.js";
import { renderHealth } from "./render-health.js";
import { type CommandContext, runCommand } from "./run-command.js";

export function statusCommand() {
  return newCommand("status", "what waits, runs and died in each lane, and what keeps the tables from being cleaned")
    .option("--watch [seconds]", "show it again and again, every 2 s or as told, until Ctrl-C; with --json one line each", wholeNumber)
    .action((options) =>
      runCommand(options, async (context) => {
        if (options.watch !== undefined) return watch(context, Math.max(1, options.watch === true ? 2 : options.watch) * 1_000);
        const health = await context.admin.health();
        context.output.json(health);
        context.output.line(renderHealth(context.output, health));
      }),
    );
}

async function watch({ admin, output }: CommandContext, intervalMs: number): Promise<void> {
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  process.once("SIGTERM", () => stop.abort());
  const view = output.isInteractive ? new LiveView() : undefined;
  const show = (text: string) => (view === undefined ? output.line(`${text}\n`) : view.show(text));
  for (let isFirst = true; !stop.signal.aborted; isFirst = false) {
    try {
      const health = await admin.health();
      if (output.isJson) process.stdout.write(`${JSON.stringify({ at: new Date(), ...health })}\n`);
      else show(`${output.colors.dim(`${showInstant(new Date())}, Ctrl-C ends`)}\n\n${renderHealth(output, health)}`);
    } catch (error) {
      if (isFirst) throw error;
      // The server may be back at the next look.
      const { message } = describeFailure(error);
      if (view === undefined) output.note(message);
      else view.show(message);
    }
    await wait(intervalMs, stop.signal);
  }
}
