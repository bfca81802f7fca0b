/** The test files whose pools go to the server itself also under `TEST_POOLER`, and why they show nothing through a pooler. */
export const needSession: Readonly<Record<string, string>> = {
  "packages/worker/test/database-defaults.test.ts":
    "alters the defaults of its database: sessions that a pooler keeps open do not learn them, and no client can ask for new ones",
  "packages/worker/test/ended-claim.test.ts":
    "holds a session's lock against a claim: in transaction mode the claim may come through the very session that holds it",
  "packages/worker/test/lost-connections.test.ts":
    "ends the sessions of one pool by its name: a pooler lends the same sessions to all pools, the test's own among them",
  "packages/worker/test/small-pool.test.ts": "counts the connections of its own pool: a pooler has two, whatever the pool's size",
  "packages/worker/test/transactional.test.ts":
    "keeps a transaction open for good while others have to begin: of a pooler's two sessions a worker gives one to its handlers",
};

/** Whether the pools of the test file need sessions of their own. */
export function needsSession(file: string): boolean {
  return Object.keys(needSession).some((path) => file.endsWith(path));
}
