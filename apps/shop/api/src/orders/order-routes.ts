import { type Context, Hono } from "hono";
import type { ShopPage } from "../page/create-page.js";
import { drawOrder } from "./draw-order.js";
import { type OrderRefusal, OrderRefusedError } from "./order-refused-error.js";
import type { OrderRequest } from "./order-request.js";
import { placeOrder, type PlaceOrderOptions } from "./place-order.js";
import { isForm, readOrderRequest } from "./read-order-request.js";

export interface OrderRoutesOptions extends PlaceOrderOptions {
  readonly random: () => number;
  /** Shown to a form whose order was refused. */
  readonly page: ShopPage;
}

const statusOf: Readonly<Record<OrderRefusal, 409 | 422>> = { "out-of-stock": 409, "unknown-product": 422, "unknown-customer": 422 };

/**
 * `POST /orders`, with JSON answered by JSON, with a form by a page; `POST /orders/random`, the button. A form whose order was
 * taken is redirected, so that reloading the page does not order again.
 */
export function orderRoutes({ random, page, ...options }: OrderRoutesOptions): Hono {
  const app = new Hono();

  app.post("/", async (c) => {
    const read = await readOrderRequest(c.req);
    if ("problem" in read)
      return isForm(c.req)
        ? page.show(c, { tone: "bad", text: read.problem }, 400)
        : c.json({ error: "invalid", message: read.problem }, 400);
    return isForm(c.req) ? answerForm(c, read.order) : answerJson(c, read.order);
  });
  app.post("/random", async (c) => answerForm(c, drawOrder(random)));
  return app;

  async function answerJson(c: Context, order: OrderRequest): Promise<Response> {
    const placed = await tryToPlace(order);
    if (placed instanceof OrderRefusedError) return c.json({ error: placed.refusal, message: placed.message }, statusOf[placed.refusal]);
    return c.json(placed, 201);
  }

  async function answerForm(c: Context, order: OrderRequest): Promise<Response> {
    const placed = await tryToPlace(order);
    if (placed instanceof OrderRefusedError) return page.show(c, { tone: "bad", text: placed.message }, statusOf[placed.refusal]);
    return c.redirect(`/?placed=${encodeURIComponent(placed.orderId)}`, 303);
  }

  async function tryToPlace(order: OrderRequest) {
    try {
      return await placeOrder(order, options);
    } catch (error) {
      if (error instanceof OrderRefusedError) return error;
      throw error;
    }
  }
}
