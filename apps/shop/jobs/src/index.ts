/**
 * `@shop/jobs`: the queue of the shop. The api enqueues through it, the worker serves it; neither knows the other.
 */
export { type OrderJobKind, orderJobKinds, queue, type ShopQueue } from "./queue.js";
