export { fromNeon } from "./from-neon.js";
export { neonDatabase } from "./neon-database.js";
export { neonListener, type NeonListenerOptions } from "./neon-listener.js";
