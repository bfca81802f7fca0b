export type { Adapter } from "./adapter.js";
export { describeConformance } from "./describe-conformance.js";
