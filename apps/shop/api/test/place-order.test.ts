import { describe, expect, test } from "vitest";
import { products, scarceProduct } from "@shop/database";
import { useShop } from "./use-shop.js";

const shop = useShop();
const [beans, , filters] = products;
const stockOf = async (id: number) =>
  (await shop.db.selectFrom("products").select("stock").where("id", "=", id).executeTakeFirstOrThrow()).stock;

describe("POST /orders", () => {
  test("writes the order, its lines, the stock and the three jobs", async () => {
    const before = await stockOf(1);

    const response = await shop.post("/orders", {
      customerId: 2,
      lines: [
        { productId: 1, quantity: 2 },
        { productId: 3, quantity: 1 },
      ],
    });

    expect(response.status).toBe(201);
    const { orderId, totalCents, jobIds } = (await response.json()) as { orderId: string; totalCents: number; jobIds: string[] };
    expect(totalCents).toBe(2 * (beans?.priceCents ?? 0) + (filters?.priceCents ?? 0));
    expect(await stockOf(1)).toBe(before - 2);
    const lines = await shop.db
      .selectFrom("order_lines")
      .select(["product_id", "quantity"])
      .where("order_id", "=", orderId)
      .orderBy("product_id")
      .execute();
    expect(lines).toEqual([
      { product_id: 1, quantity: 2 },
      { product_id: 3, quantity: 1 },
    ]);
    const jobs = await shop.db
      .selectFrom("queue.jobs")
      .select(["id", "kind", "lane", "payload", "idempotency_key", "run_at", "created_at"])
      .where("idempotency_key", "=", orderId)
      .orderBy("id")
      .execute();
    expect(jobs.map(({ id, kind, lane, payload }) => ({ id, kind, lane, payload }))).toEqual([
      { id: jobIds[0], kind: "order.send-receipt", lane: "mail", payload: { orderId, email: "benoit.lefevre@example.com" } },
      { id: jobIds[1], kind: "order.notify-warehouse", lane: "warehouse", payload: { orderId } },
      { id: jobIds[2], kind: "order.ask-review", lane: "reviews", payload: { orderId } },
    ]);
    const review = jobs[2];
    expect((review?.run_at.getTime() ?? 0) - (review?.created_at.getTime() ?? 0)).toBeCloseTo(7 * 86_400_000, -3);
  });

  test("that fails on stock answers 409 and leaves neither order nor job, and no stock taken for the other lines", async () => {
    const before = { ...(await shop.count()), beans: await stockOf(1) };

    const response = await shop.post("/orders", {
      customerId: 1,
      lines: [
        { productId: 1, quantity: 1 },
        { productId: scarceProduct.id, quantity: 4 },
      ],
    });

    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({
      error: "out-of-stock",
      message: "Hand lever espresso machine: only 3 left, the order was for 4.",
    });
    expect({ ...(await shop.count()), beans: await stockOf(1) }).toEqual(before);
  });

  test("sells the last ones to exactly as many customers as there are, when all order at once", async () => {
    const before = await shop.count();
    const order = (customerId: number) =>
      shop.post("/orders", {
        customerId,
        lines: [
          { productId: scarceProduct.id, quantity: 1 },
          { productId: 1, quantity: 1 },
        ],
      });

    const statuses = (await Promise.all([1, 2, 3, 4, 5, 6, 7, 1].map(order))).map((response) => response.status);

    expect(statuses.filter((status) => status === 201)).toHaveLength(3);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    expect(await stockOf(scarceProduct.id)).toBe(0);
    expect(await shop.count()).toEqual({ orders: before.orders + 3, jobs: before.jobs + 9 });
  });

  test("takes the same two products in either order without a deadlock", async () => {
    const orders = Array.from({ length: 40 }, (_, index) => {
      const lines = [
        { productId: 1, quantity: 1 },
        { productId: 2, quantity: 1 },
      ];
      return shop.post("/orders", { customerId: 1, lines: index % 2 === 0 ? lines : lines.reverse() });
    });

    expect(new Set((await Promise.all(orders)).map((response) => response.status))).toEqual(new Set([201]));
  });

  test.each([
    ["an unknown product", { customerId: 1, lines: [{ productId: 999, quantity: 1 }] }, 422, "unknown-product"],
    ["an unknown customer", { customerId: 999, lines: [{ productId: 1, quantity: 1 }] }, 422, "unknown-customer"],
    ["no line", { customerId: 1, lines: [] }, 400, "invalid"],
    ["a negative quantity", { customerId: 1, lines: [{ productId: 1, quantity: -1 }] }, 400, "invalid"],
    ["half a product", { customerId: 1, lines: [{ productId: 1, quantity: 0.5 }] }, 400, "invalid"],
    ["a number as text", { customerId: "1", lines: [{ productId: 1, quantity: 1 }] }, 400, "invalid"],
    ["something else", "hello", 400, "invalid"],
  ])("refuses %s, and leaves nothing", async (_name, body, status, error) => {
    const before = await shop.count();

    const response = await shop.post("/orders", body);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error });
    expect(await shop.count()).toEqual(before);
  });

  test("refuses what is no JSON, and what is too long", async () => {
    const send = (body: string) => shop.api.request("/orders", { method: "POST", headers: { "content-type": "application/json" }, body });

    expect((await send("{")).status).toBe(400);
    expect((await send(JSON.stringify("x".repeat(100_000)))).status).toBe(413);
  });
});

describe("the forms of the page", () => {
  const submit = (path: string, fields: string) =>
    shop.api.request(path, { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: fields });

  test("an order is taken and redirected, so that a reload does not order again", async () => {
    const before = await shop.count();

    const response = await submit("/orders", "customerId=1&productId=1&quantity=2&productId=3&quantity=1");

    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toMatch(/^\/\?placed=S-\d+$/);
    expect(await shop.count()).toEqual({ orders: before.orders + 1, jobs: before.jobs + 3 });
  });

  test("an order that is refused is answered with the page and the reason", async () => {
    const response = await submit("/orders", `customerId=1&productId=${scarceProduct.id}&quantity=1`);

    expect(response.status).toBe(409);
    expect(await response.text()).toContain("Hand lever espresso machine: sold out, the order was for 1.");
  });

  test("a field that is missing is answered with what was expected", async () => {
    const response = await submit("/orders", "customerId=1&productId=1");

    expect(response.status).toBe(400);
    expect(await response.text()).toContain("quantity");
  });

  test("the button orders something", async () => {
    const before = await shop.count();

    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await submit("/orders/random", "")).status));

    const placed = statuses.filter((status) => status === 303).length;
    expect(statuses.every((status) => status === 303 || status === 409)).toBe(true);
    expect(await shop.count()).toEqual({ orders: before.orders + placed, jobs: before.jobs + 3 * placed });
  });
});
