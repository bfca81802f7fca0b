import { armBell, isBellSettled, muteBell } from "./arm-bell.js";
import { beginEffect } from "./begin-effect.js";
import { claimJobs } from "./claim-jobs.js";
import { completeAndClaim } from "./complete-and-claim.js";
import { completeJobs, completeOwnJobs } from "./complete-jobs.js";
import { deleteEnded } from "./delete-ended.js";
import { deleteReleasedKeys } from "./delete-released-keys.js";
import { extendLeases } from "./extend-leases.js";
import { findEnded } from "./find-ended.js";
import { findExpiredAttempts } from "./find-expired-attempts.js";
import { finishEffect, forgetEffect } from "./finish-effect.js";
import { forgetWorker } from "./forget-worker.js";
import { lookAhead } from "./look-ahead.js";
import { lookBehind } from "./look-behind.js";
import { maintainArchive } from "./maintain-archive.js";
import { refundAttempts } from "./refund-attempts.js";
import { registerWorker } from "./register-worker.js";
import { releaseUnknownJobs } from "./release-unknown-jobs.js";
import { requeueJobs, requeueOwnJobs } from "./requeue-jobs.js";
import { ringForJobs, ringWorkers } from "./ring-workers.js";
import { returnExpiredJobs } from "./return-expired-jobs.js";

/** The statements that move jobs, compiled for one schema. */
export function createWorkerStatements(schema: string) {
  return {
    armBell: armBell(schema),
    beginEffect: beginEffect(schema),
    claimJobs: claimJobs(schema),
    completeAndClaim: completeAndClaim(schema),
    completeJobs: completeJobs(schema),
    completeOwnJobs: completeOwnJobs(schema),
    deleteEnded: deleteEnded(schema),
    deleteReleasedKeys: deleteReleasedKeys(schema),
    extendLeases: extendLeases(schema),
    findEnded: findEnded(schema),
    findExpiredAttempts: findExpiredAttempts(schema),
    finishEffect: finishEffect(schema),
    forgetEffect: forgetEffect(schema),
    forgetWorker: forgetWorker(schema),
    isBellSettled: isBellSettled(schema),
    lookAhead: lookAhead(schema),
    lookBehind: lookBehind(schema),
    maintainArchive: maintainArchive(schema),
    muteBell: muteBell(schema),
    refundAttempts: refundAttempts(schema),
    registerWorker: registerWorker(schema),
    releaseUnknownJobs: releaseUnknownJobs(schema),
    requeueJobs: requeueJobs(schema),
    requeueOwnJobs: requeueOwnJobs(schema),
    returnExpiredJobs: returnExpiredJobs(schema),
    ringForJobs: ringForJobs(schema),
    ringWorkers: ringWorkers(schema),
  };
}

export type WorkerStatements = ReturnType<typeof createWorkerStatements>;
