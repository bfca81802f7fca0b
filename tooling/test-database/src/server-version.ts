import { withAdmin } from "./admin-connection.js";

/** `server_version_num` of the server at `url`. */
export async function serverVersion(url: string): Promise<number> {
  return withAdmin(url, async (admin) => {
    const { rows } = await admin.query<{ version: string }>("select current_setting('server_version_num') as version");
    return Number(rows[0]?.version);
  });
}
