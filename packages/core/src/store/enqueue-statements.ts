import { enqueueDueJob, enqueueJob } from "./enqueue-job.js";
import { enqueueJobs } from "./enqueue-jobs.js";
import { enqueueKeyedJobs } from "./enqueue-keyed-jobs.js";

/** The statements that insert jobs, compiled for one schema. Those without keys are texts of their own: with them it is up to twice as slow. */
export function createEnqueueStatements(schema: string) {
  return {
    enqueueDueJob: enqueueDueJob(schema),
    enqueueJob: enqueueJob(schema),
    enqueueJobs: enqueueJobs(schema),
    enqueueKeyedJobs: enqueueKeyedJobs(schema),
  };
}
