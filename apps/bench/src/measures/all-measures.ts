import type { Measure } from "./measure.js";
import { s1Process } from "./s1-process.js";
import { s2IdleLatency } from "./s2-idle-latency.js";
import { s3BusyLatency } from "./s3-busy-latency.js";
import { s4HeldSnapshot } from "./s4-held-snapshot.js";
import { s5ForeignBacklog } from "./s5-foreign-backlog.js";
import { s6DeepBacklog } from "./s6-deep-backlog.js";
import { s7TransactionalEnqueue } from "./s7-transactional-enqueue.js";
import { s8LogPerJob } from "./s8-log-per-job.js";
import { s9DueTimes } from "./s9-due-times.js";
import { s10Resources } from "./s10-resources.js";

export const allMeasures: readonly Measure[] = [
  s1Process,
  s2IdleLatency,
  s3BusyLatency,
  s4HeldSnapshot,
  s5ForeignBacklog,
  s6DeepBacklog,
  s7TransactionalEnqueue,
  s8LogPerJob,
  s9DueTimes,
  s10Resources,
];
