/** `@shop/api`: the shop as a Hono app, to be served by `main.ts`, by the demo, or by a test. */
export { createApi, type ApiOptions } from "./create-api.js";
export { drawOrder } from "./orders/draw-order.js";
export { placeOrder, type PlacedOrder, type PlaceOrderOptions } from "./orders/place-order.js";
export { OrderRefusedError, type OrderRefusal } from "./orders/order-refused-error.js";
export type { OrderRequest } from "./orders/order-request.js";
export { serveApi, type ServedApi, type ServeOptions } from "./serve-api.js";
