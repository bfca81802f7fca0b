/** `@queue/cli`: for `queue.config.ts`. The commands are the program `queue`. */
export { defineConfig, type QueueConfig } from "./config/queue-config.js";
