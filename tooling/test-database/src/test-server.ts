import type { Pooler } from "./pooler.js";

/** A running PostgreSQL that may create databases. */
export interface TestServer extends AsyncDisposable {
  /** To its database `postgres`, as a user who may create databases. */
  readonly url: string;
  /** `server_version_num`: 180004 is 18.4. */
  readonly version: number;
  /** Before it, where `TEST_POOLER` asks for one. */
  readonly pooler?: Pooler | undefined;
  /** Ends the server if it was started for this. Safe twice. */
  stop(): Promise<void>;
}
