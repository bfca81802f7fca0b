import { Command } from "@commander-js/extra-typings";

/** A command with what all of them have. */
export function newCommand(name: string, summary: string) {
  return new Command(name)
    .description(summary)
    .option("--url <url>", "connection string (default: DATABASE_URL, then url in queue.config.ts)")
    .option("--schema <name>", 'schema of the tables (default: that of queue.config.ts, then "queue")')
    .option("--config <file>", "config to use (default: queue.config.ts in this folder, if there is one)")
    .option("--json", "print JSON, and errors as JSON");
}
