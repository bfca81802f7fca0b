import { spinner } from "@clack/prompts";
import { migrate, migrationSql } from "@queue/core/migrations";
import { loadConfig } from "../config/load-config.js";
import { newCommand } from "./new-command.js";
import { runCommand, runOffline } from "./run-command.js";

export function migrateCommand() {
  return newCommand("migrate", "create or upgrade the tables; safe to repeat, and from many processes at once")
    .option("--sql", "print the script for an empty schema, and touch nothing")
    .action(async (options) => {
      if (options.sql === true) {
        await runOffline(options, async (output) => {
          const { schema, queue } = await loadConfig(options.config);
          const name = options.schema ?? schema ?? queue?.schema ?? "queue";
          const sql = migrationSql({ schema: name });
          output.json({ schema: name, sql });
          output.line(sql.trimEnd());
        });
        return;
      }
      await runCommand(options, async ({ db, schema, output }) => {
        const waiting = output.isInteractive ? spinner() : undefined;
        waiting?.start(`Migrating schema ${schema}`);
        const result = await migrate(db, { schema }).finally(() => waiting?.clear());
        output.json(result);
        output.line(
          result.applied.length === 0 ? `Schema ${schema} is up to date.` : `Schema ${schema}: applied ${result.applied.join(", ")}.`,
        );
      });
    });
}
