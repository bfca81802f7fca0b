/** Adds up the JSON reports of vitest that are named as arguments, and prints the sum as one line. */
import { readFileSync } from "node:fs";

let passed = 0;
let failed = 0;
for (const path of process.argv.slice(2)) {
  const report = readReport(path);
  passed += report.numPassedTests;
  // A file that does not load has no test that could fail.
  failed += report.numFailedTests + report.testResults.filter(isBrokenFile).length;
  if (!report.success && failed === 0) failed = 1;
}
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0 || passed === 0) process.exitCode = 1;

/** A run that ended without a report failed as a whole. */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    console.error(`No report of the tests in ${path}: ${error.message}`);
    return { success: false, numPassedTests: 0, numFailedTests: 1, testResults: [] };
  }
}

function isBrokenFile({ status, assertionResults }) {
  return status === "failed" && assertionResults.every((test) => test.status !== "failed");
}
