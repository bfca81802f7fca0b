import { html } from "hono/html";
import type { OrderJobView } from "./read-orders.js";
import { timeSpan } from "./time-span.js";

/** A job as a cell of the table. Everything that is interpolated is escaped by `html`. */
export function renderJob(job: OrderJobView | undefined) {
  if (job === undefined) return html`<span class="none">none</span>`;
  const detail = describe(job);
  return html`<span class="state ${job.state}">${job.state}</span>${detail === "" ? "" : html`<small>${detail}</small>`}${
      hasTrouble(job) ? html`<small class="error" title="${job.lastError}">${job.lastError}</small>` : ""
    }`;
}

function hasTrouble({ state, lastError }: OrderJobView): boolean {
  return lastError !== null && state !== "done" && state !== "cancelled";
}

function describe({ state, attempts, maxAttempts, dueInMs }: OrderJobView): string {
  switch (state) {
    case "scheduled":
      return `in ${timeSpan(dueInMs)}`;
    case "retrying":
      return `${attempts} of ${maxAttempts} failed, ${dueInMs > 0 ? `again in ${timeSpan(dueInMs)}` : "due"}`;
    case "running":
      return attempts > 1 ? `attempt ${attempts} of ${maxAttempts}` : "";
    case "dead":
      return attempts === 1 ? "after 1 attempt" : `after ${attempts} attempts`;
    case "done":
      return attempts > 1 ? `attempt ${attempts}` : "";
    case "waiting":
    case "cancelled":
      return "";
  }
}
