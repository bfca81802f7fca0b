import pg from "pg";

/** Runs `work` with a connection of its own to `url`, which is closed afterwards. */
export async function withAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url, application_name: "test-database" });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}
