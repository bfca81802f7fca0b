/** `@queue/testing`: for tests of applications that use the queue. */
export { createTestQueue, type EmbeddedQueueOptions, type GivenQueueOptions } from "./create-test-queue.js";
export type { TestQueue } from "./test-queue.js";
export type { TestClock } from "./test-clock.js";
export type { DrainOptions, DrainResult } from "./drain.js";
export { DrainError, type FailedAttempt } from "./drain-error.js";
export { expectEnqueued, expectNotEnqueued, type ExpectEnqueuedOptions, type PartialPayload } from "./expect-enqueued.js";
