import { text } from "node:stream/consumers";
import { createQueue, type EnqueueOptions, job, type JsonValue, type Queue } from "@queue/core";
import type { JobDefinitions } from "@queue/core";
import { UsageError } from "../output/usage-error.js";
import { visible } from "../output/visible.js";
import { instant, wholeNumber } from "./parse-number.js";
import { newCommand } from "./new-command.js";
import { runCommand } from "./run-command.js";

export function enqueueCommand() {
  return newCommand("enqueue", "write one job; without a queue in the config its kind and payload are not checked")
    .argument("<kind>")
    .argument("[json]", 'the payload; "-" reads it from standard input', "null")
    .option("--key <key>", "idempotency key")
    .option("--key-holds <how long>", '"30d", "until-started" or "until-ended"')
    .option("--delay <duration>", 'such as "10m"')
    .option("--run-at <time>", "such as 2026-11-29T12:00:00Z", instant)
    .option("--priority <n>", "0 (first) to 9 (last)", wholeNumber)
    .option("--max-attempts <n>", "how often it may start", wholeNumber)
    .option("--lane <lane>")
    .action((kind, json, { key, keyHolds, delay, runAt, priority, maxAttempts, lane, ...options }) =>
      runCommand(options, async ({ db, queue, schema, output }) => {
        const payload = parsePayload(json === "-" ? await text(process.stdin) : json);
        const isChecked = queue !== undefined;
        const target = (queue ?? createQueue({ schema, jobs: { [kind]: job<JsonValue>() } })) as Queue<JobDefinitions, string>;
        // What is out of range, enqueue refuses.
        const settings = { key, keyHolds, delay, runAt, priority, maxAttempts, lane } as EnqueueOptions;
        const { id, inserted } = await target.enqueue(db, kind, payload, settings);
        if (!isChecked) output.note(`Kind ${JSON.stringify(kind)} is not checked: no config has the application's queue.`);
        output.json({ id, inserted, isChecked });
        output.line(inserted ? `Job ${id} is queued.` : `Nothing was inserted: job ${id} holds the key ${visible(key ?? "")}.`);
      }),
    );
}

function parsePayload(json: string): JsonValue {
  try {
    return JSON.parse(json) as JsonValue;
  } catch (error) {
    throw new UsageError(`The payload is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
