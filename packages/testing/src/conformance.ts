/** `@queue/testing/conformance`: what every adapter must do, as tests for vitest. */
export type { Adapter } from "./conformance/adapter.js";
export { describeConformance } from "./conformance/describe-conformance.js";
export { describeListener } from "./conformance/describe-listener.js";
export type { ListenerAdapter, ListenerSettings } from "./conformance/describe-listener-suite.js";
