import { expect, test } from "vitest";
import { customers, products, seededRandom, troubledCustomer } from "@shop/database";
import { drawOrder } from "./draw-order.js";
import { orderRequest } from "./order-request.js";

test("the same seed draws the same orders, each of which the shop understands", () => {
  const draw = () => {
    const random = seededRandom("test");
    return Array.from({ length: 500 }, () => drawOrder(random));
  };
  const orders = draw();

  expect(draw()).toEqual(orders);
  for (const order of orders) expect(orderRequest.parse(order)).toEqual(order);
  expect(new Set(orders.map(({ customerId }) => customerId)).size).toBe(customers.length);
  expect(new Set(orders.flatMap(({ lines }) => lines.map(({ productId }) => productId))).size).toBe(products.length);
  expect(orders.some(({ customerId }) => customerId === troubledCustomer.id)).toBe(true);
});
