#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { CommanderError } from "@commander-js/extra-typings";
import { createProgram } from "./program.js";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

// Whoever reads may have enough: `queue jobs | head -1`.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

try {
  await createProgram(version).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
}
