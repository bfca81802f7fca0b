import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

export interface TestPoolsOptions {
  readonly url: string;
  /** Instead, where a pool can do with what a pooler has. */
  readonly pooledUrl?: string | undefined;
}

/** The pools of one test database. */
export class TestPools {
  readonly #options: TestPoolsOptions;
  readonly #pools: pg.Pool[] = [];
  #shared: pg.Pool | undefined;

  constructor(options: TestPoolsOptions) {
    this.#options = options;
  }

  get shared(): pg.Pool {
    this.#shared ??= this.open();
    return this.#shared;
  }

  open(config: pg.PoolConfig = {}): pg.Pool {
    const { url, pooledUrl = url } = this.#options;
    // What a session is started with, no pooler takes.
    const connectionString = config.options === undefined ? pooledUrl : url;
    const pool = new pg.Pool({ connectionString, ...config });
    // An idle connection that the server closed, as tests make it do, is an event of the pool; without a listener it ends the
    // process. Who needs a connection next gets a new one, or the error.
    pool.on("error", () => {});
    this.#pools.push(pool);
    return pool;
  }

  /** Ends all; resolves to the number of connections that somebody took and never gave back, which would be waited for forever. */
  async end(): Promise<number> {
    let leaked = 0;
    for (const pool of this.#pools) {
      const taken = await takenAtLast(pool);
      if (taken > 0) leaked += taken;
      else if (!pool.ended) await pool.end();
    }
    return leaked;
  }
}

/** What ends with the last test, a rollback say, may still be on its way back. */
const patienceMs = 5_000;

async function takenAtLast(pool: pg.Pool): Promise<number> {
  const endsAtMs = performance.now() + patienceMs;
  for (;;) {
    const taken = pool.totalCount - pool.idleCount;
    if (taken === 0 || performance.now() > endsAtMs) return taken;
    await delay(10);
  }
}
