import { callSafely } from "./report/call-safely.js";

/** The shape of pino, and of many others: an object first, then a sentence. */
export interface Logger {
  debug(details: object, message: string): void;
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Warnings and errors to the console, nothing else: what a worker without a logger of its own says. */
export const consoleLogger: Logger = Object.freeze({
  debug: () => {},
  info: () => {},
  warn: (details: object, message: string) => console.warn(`[queue] ${message}`, details),
  error: (details: object, message: string) => console.error(`[queue] ${message}`, details),
});

/** `logger`, of which no line can throw: a log that has been closed is no reason to stop working. */
export function safeLogger(logger: Logger): Logger {
  const quietly = (level: keyof Logger) => (details: object, message: string) => {
    // There is nowhere left to say that it failed.
    callSafely(
      () => logger[level](details, message),
      () => {},
    );
  };
  return { debug: quietly("debug"), info: quietly("info"), warn: quietly("warn"), error: quietly("error") };
}

/** `logger` with `bound` in every line. Payloads never go in. */
export function bindLogger(logger: Logger, bound: object): Logger {
  return {
    debug: (details, message) => logger.debug({ ...bound, ...details }, message),
    info: (details, message) => logger.info({ ...bound, ...details }, message),
    warn: (details, message) => logger.warn({ ...bound, ...details }, message),
    error: (details, message) => logger.error({ ...bound, ...details }, message),
  };
}
