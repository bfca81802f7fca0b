/** `packages/core/test/claim.test.ts` for `claim`. */
export function coreTest(name: string): string {
  return `packages/core/test/${name}.test.ts`;
}

/** `packages/worker/test/leases.test.ts` for `leases`. */
export function workerTest(name: string): string {
  return `packages/worker/test/${name}.test.ts`;
}
