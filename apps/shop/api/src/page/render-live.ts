import { html } from "hono/html";
import { formatEuros } from "@shop/database";
import type { JobNumbers } from "./read-numbers.js";
import type { OrderView } from "./read-orders.js";
import { renderJob } from "./render-job.js";
import { timeSpan } from "./time-span.js";

export interface Live {
  readonly numbers: JobNumbers;
  readonly orders: readonly OrderView[];
}

/** The part of the page that changes by itself; the page's script fetches it every second. */
export function renderLive({ numbers, orders }: Live) {
  return html` <ul class="numbers" aria-label="Jobs">
      ${renderNumber("waiting", numbers.waiting, "due, or due later")} ${renderNumber("running", numbers.running, "a worker has them")}
      ${renderNumber("retrying", numbers.retrying, "between two attempts")} ${renderNumber("dead", numbers.dead, "somebody has to decide")}
      ${renderNumber("done", numbers.done, "in the last 24 hours")}
    </ul>
    <section class="orders">
      <h2>Newest orders</h2>
      ${orders.length === 0 ? html`<p class="empty">No order yet. Place the first one.</p>` : renderTable(orders)}
    </section>`;
}

function renderNumber(state: keyof JobNumbers, count: number, meaning: string) {
  return html`<li class="${state}${count === 0 ? " zero" : ""}">
    <b>${count.toLocaleString("en")}</b><span>${state}</span><small>${meaning}</small>
  </li>`;
}

function renderTable(orders: readonly OrderView[]) {
  return html`<table>
    <thead>
      <tr>
        <th>Order</th>
        <th>For</th>
        <th class="amount">Total</th>
        <th>Receipt</th>
        <th>Warehouse</th>
        <th>Review</th>
      </tr>
    </thead>
    <tbody>
      ${orders.map(renderOrder)}
    </tbody>
  </table>`;
}

function renderOrder({ id, status, ageMs, customer, goods, totalCents, jobs }: OrderView) {
  return html` <tr>
    <td><b>${id}</b><small>${status}, ${timeSpan(ageMs)} ago</small></td>
    <td class="for">${customer}<small>${goods}</small></td>
    <td class="amount">${formatEuros(totalCents)}</td>
    <td class="job">${renderJob(jobs.get("order.send-receipt"))}</td>
    <td class="job">${renderJob(jobs.get("order.notify-warehouse"))}</td>
    <td class="job">${renderJob(jobs.get("order.ask-review"))}</td>
  </tr>`;
}
