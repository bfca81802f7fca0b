/** `@shop/worker`: what does the jobs, to be run by `main.ts`, by the demo, or by a test. */
export { createShopWorker, type ShopWorkerOptions } from "./create-shop-worker.js";
export { type Mail, MailError, type MailFailure, type MailProvider } from "./providers/mail-provider.js";
export { mailWeather, type MailWeather } from "./providers/mail-weather.js";
export { SimulatedMailProvider, type SimulatedMailProviderOptions } from "./providers/simulated-mail-provider.js";
export { SimulatedTextMessageProvider } from "./providers/simulated-text-message-provider.js";
export type { TextMessage, TextMessageProvider } from "./providers/text-message-provider.js";
