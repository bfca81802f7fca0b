import type { QueueHealth } from "@queue/core";
import { showSpan } from "../output/instant.js";
import type { Output } from "../output/output.js";
import { renderTable } from "../output/table.js";
import { visible } from "../output/visible.js";

const head = ["lane", "ready", "oldest", "scheduled", "running", "expired", "dead", "paused"];

/** The state of the queue, as lines. */
export function renderHealth(output: Pick<Output, "width" | "colors">, health: QueueHealth): string {
  const { lanes, deadTuples, oldestSnapshot, kindsWithoutWorker } = health;
  const rows = lanes.map((lane) => [
    lane.lane,
    lane.isCapped ? `${lane.ready}+` : lane.ready,
    showSpan(lane.oldestReadyMs),
    lane.scheduled,
    lane.running,
    lane.expiredLeases,
    lane.dead,
    lane.paused ? "yes" : "no",
  ]);
  const snapshot =
    oldestSnapshot === null
      ? "none"
      : `${showSpan(oldestSnapshot.ageMs)}, pid ${oldestSnapshot.pid}${oldestSnapshot.application === "" ? "" : `, ${visible(oldestSnapshot.application)}`}`;
  return [
    lanes.length === 0 ? "No lane has jobs." : renderTable(output, head, rows),
    "",
    `dead rows: ${deadTuples}`,
    `oldest snapshot: ${snapshot}`,
    `kinds without a worker: ${kindsWithoutWorker.length === 0 ? "none" : kindsWithoutWorker.map(visible).join(", ")}`,
  ].join("\n");
}
