import { expect, test } from "vitest";
import { checkOutcome } from "./check-outcome.js";
import type { Outcome } from "./read-outcome.js";

const good: Outcome = {
  jobs: 6,
  done: 4,
  dead: 2,
  open: 0,
  retries: 3,
  slowestPickUpMs: 5,
  receiptsDone: 1,
  shipmentsDone: 1,
  mails: 1,
  shippedOrders: 1,
  textMessages: 1,
  unexpectedDead: 0,
  incompleteOrders: 0,
  lostProducts: 0,
};
const broken = (outcome: Partial<Outcome>) => checkOutcome(2, { ...good, ...outcome }).filter(({ isKept }) => !isKept);

test("what went well keeps every promise", () => {
  expect(broken({})).toEqual([]);
});

test.each<[string, Partial<Outcome>]>([
  ["a job is missing", { jobs: 5, done: 3, incompleteOrders: 1 }],
  ["an order has four jobs, and another two", { incompleteOrders: 2 }],
  ["a job is still open", { done: 3, open: 1 }],
  ["a mail was sent twice", { mails: 2 }],
  ["a mail was lost", { mails: 0 }],
  ["an order was shipped and its job is not done", { shipmentsDone: 0 }],
  ["a customer was asked twice", { textMessages: 2 }],
  ["a job died that should not have", { unexpectedDead: 1 }],
  ["stock was lost", { lostProducts: 1 }],
])("when %s, exactly one promise is broken", (_what, outcome) => {
  expect(broken(outcome)).toHaveLength(1);
});
