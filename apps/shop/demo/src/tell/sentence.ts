import type { WorkerEvent } from "@queue/worker";
import { customers, formatEuros } from "@shop/database";
import type { PostedOrder } from "../post-order.js";

/** What a sentence is about: the first of each is told in full, the rest as the mode says. */
export type Topic = "placed" | "refused" | "receipt" | "warehouse" | "review" | "recovered" | "failed" | "dead";

export interface Sentence {
  readonly topic: Topic;
  readonly text: string;
  /** For when one of its topic was told before. */
  readonly short: string;
}

export function orderSentence(order: PostedOrder): Sentence {
  if (!order.isPlaced) {
    const text = `An order was refused: ${order.reason}`;
    return { topic: "refused", text: `${text} It left neither an order nor a job.`, short: text };
  }
  const customer = customers.find(({ id }) => id === order.customerId)?.name ?? `customer ${order.customerId}`;
  const text = `Order ${order.orderId} of ${customer}, ${formatEuros(order.totalCents)}`;
  return { topic: "placed", text: `${text}: order, lines, stock and three jobs written in one transaction.`, short: `${text}.` };
}

/** The events that a person wants to hear of. */
export type ToldEvent = Extract<WorkerEvent, { readonly type: "job.completed" | "job.failed" | "job.dead" }>;

export function isTold(event: WorkerEvent): event is ToldEvent {
  return event.type === "job.completed" || event.type === "job.failed" || event.type === "job.dead";
}

export function eventSentence(event: ToldEvent, orderId: string): Sentence {
  const job = nameOf(event.kind);
  switch (event.type) {
    case "job.completed":
      return completed(event, orderId);
    case "job.failed": {
      const seconds = (Math.max(0, event.retryAt.getTime() - Date.now()) / 1_000).toFixed(2);
      const text = `The ${job} of ${orderId} failed (attempt ${event.attempt}): ${messageOf(event.error)} Again in ${seconds} s.`;
      return { topic: "failed", text, short: text };
    }
    case "job.dead": {
      const attempts = event.attempt === 1 ? "1 attempt" : `${event.attempt} attempts`;
      const text = `The ${job} of ${orderId} is dead after ${attempts}: ${messageOf(event.error)}`;
      return { topic: "dead", text: `${text} It is kept until somebody redrives it.`, short: text };
    }
  }
}

function completed({ kind, attempt }: ToldEvent, orderId: string): Sentence {
  if (attempt > 1) {
    const text = `The ${nameOf(kind)} of ${orderId} succeeded at attempt ${attempt}.`;
    return { topic: "recovered", text, short: text };
  }
  switch (kind) {
    case "order.send-receipt": {
      const text = `The receipt of ${orderId} is mailed.`;
      return { topic: "receipt", text, short: text };
    }
    case "order.notify-warehouse": {
      const text = `${orderId} is shipped`;
      return { topic: "warehouse", text: `${text}: the update and the completion of its job were one transaction.`, short: `${text}.` };
    }
    default: {
      const text = `The customer of ${orderId} is asked for a review`;
      return { topic: "review", text: `${text}: a job that the order enqueued with a delay.`, short: `${text}.` };
    }
  }
}

function nameOf(kind: string): string {
  return kind === "order.send-receipt" ? "receipt" : kind === "order.notify-warehouse" ? "shipment" : "review request";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
