import { withAdmin } from "./admin-connection.js";
import { createDatabase, dropDatabase, type ServerAddress } from "./database.js";

/**
 * Makes a database, lets `prepare` fill it, and closes it for everything but being copied. `dropDatabase` removes it.
 *
 * @returns its name
 */
export async function createTemplate(server: ServerAddress, prepare: (url: string) => Promise<void>): Promise<string> {
  const { name, url } = await createDatabase(server, { label: "template" });
  try {
    await prepare(url);
    await withAdmin(server.url, (admin) => admin.query(`alter database ${name} with is_template true allow_connections false`));
    return name;
  } catch (error) {
    await dropDatabase(server, name);
    throw error;
  }
}
