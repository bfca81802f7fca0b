import pg from "pg";

/** The same rows by the shortest statement that inserts them, on one connection; the milliseconds it took. */
export async function rawInsert(url: string, jobs: number, batch = 10_000): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const began = performance.now();
    for (let first = 0; first < jobs; first += batch) {
      const payloads = Array.from({ length: Math.min(batch, jobs - first) }, (_, index) =>
        JSON.stringify({ id: first + index, hello: "world" }),
      );
      await client.query("insert into queue.jobs (kind, payload) select 'noop', unnest($1::jsonb[])", [payloads]);
    }
    return performance.now() - began;
  } finally {
    await client.end();
  }
}
