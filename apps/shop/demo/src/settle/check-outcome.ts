import type { Outcome } from "./read-outcome.js";

/** What must hold, and whether it did. */
export interface Check {
  readonly promise: string;
  readonly isKept: boolean;
  /** What was found, where the promise was broken. */
  readonly found: string;
}

/** What the queue promises, checked against what is in the database after `orders` were taken. */
export function checkOutcome(orders: number, outcome: Outcome): Check[] {
  const { jobs, done, dead, open, receiptsDone, shipmentsDone, mails, shippedOrders, textMessages } = outcome;
  const check = (promise: string, isKept: boolean, found: string): Check => ({ promise, isKept, found });
  return [
    check("each order has its three jobs", jobs === orders * 3 && outcome.incompleteOrders === 0, `${jobs} jobs for ${orders} orders`),
    check("each job has ended, once", open === 0 && done + dead === jobs, `${done} done, ${dead} dead, ${open} open of ${jobs}`),
    check("each receipt that is done was mailed, once", mails === receiptsDone, `${mails} mails for ${receiptsDone} receipts`),
    check(
      "an order is shipped if, and only if, its job is done",
      shippedOrders === shipmentsDone,
      `${shippedOrders} shipped, ${shipmentsDone} jobs done`,
    ),
    check("each customer whose order was shipped was asked for a review, once", textMessages === shippedOrders, `${textMessages} asked`),
    check(
      "dead are only the jobs of the customer for whom everything fails",
      outcome.unexpectedDead === 0,
      `${outcome.unexpectedDead} others`,
    ),
    check("what is sold and what is left add up", outcome.lostProducts === 0, `${outcome.lostProducts} products do not`),
  ];
}
