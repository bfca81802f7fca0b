/** `@queue/testing/conformance`: what every adapter must do, as tests for vitest. */
export type { Adapter } from "./conformance/adapter.js";
export { describeConformance } from "./conformance/describe-conformance.js";
