import type { Logger } from "@queue/worker";

/** One line for each thing that an operator wants to read: what failed and is tried again, what is dead, what is wrong. */
export const lineLogger: Logger = Object.freeze({
  debug: () => {},
  info: (details: object, message: string) => console.log(`${message} ${JSON.stringify(details)}`),
  warn: (details: object, message: string) => console.warn(`${message} ${JSON.stringify(details)}`),
  error: (details: object, message: string) => console.error(`${message} ${JSON.stringify(details)}`),
});
