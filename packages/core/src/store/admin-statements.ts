import { cancelJob } from "./cancel-job.js";
import { findJob } from "./find-job.js";
import { listDeadJobs, listJobs } from "./list-jobs.js";
import { pauseLane, resumeLane } from "./pause-lane.js";
import { readLanes } from "./read-lanes.js";
import { readPressure } from "./read-pressure.js";
import { redriveJob, redriveJobs } from "./redrive-jobs.js";
import { retryJob } from "./retry-job.js";

/** The statements of an operator, compiled for one schema. */
export function createAdminStatements(schema: string) {
  return {
    cancelJob: cancelJob(schema),
    findJob: findJob(schema),
    listDeadJobs: listDeadJobs(schema),
    listJobs: listJobs(schema),
    pauseLane: pauseLane(schema),
    readLanes: readLanes(schema),
    readPressure: readPressure(schema),
    redriveJob: redriveJob(schema),
    redriveJobs: redriveJobs(schema),
    resumeLane: resumeLane(schema),
    retryJob: retryJob(schema),
  };
}
