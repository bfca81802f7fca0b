import { randomBytes } from "node:crypto";
import { withAdmin } from "./admin-connection.js";
import type { TestServer } from "./test-server.js";

/** A database of a test server. */
export interface Database {
  readonly name: string;
  readonly url: string;
}

export interface DatabaseOptions {
  /** The beginning of its name, so that a person finds it. */
  readonly label: string;
  /** The database to start as a copy of. @default "template0", which is empty */
  readonly template?: string;
}

/** What is needed to create and drop databases. */
export type ServerAddress = Pick<TestServer, "url" | "version">;

/** The first release that can copy a template's files instead of logging every page. */
const fileCopyVersion = 150_000;

/** Creates a database with a name of its own. */
export async function createDatabase(
  { url, version }: ServerAddress,
  { label, template = "template0" }: DatabaseOptions,
): Promise<Database> {
  const readable = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .slice(0, 40);
  const name = `queue_${readable}_${randomBytes(5).toString("hex")}`;
  const strategy = version >= fileCopyVersion ? " strategy file_copy" : "";
  await withAdmin(url, (admin) => admin.query(`create database ${name} template ${template}${strategy}`));
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { name, url: own.href };
}

/** Drops a database, whoever is still connected to it. One that is gone is fine. */
export async function dropDatabase({ url }: ServerAddress, name: string): Promise<void> {
  await withAdmin(url, async (admin) => {
    const { rows } = await admin.query<{ datistemplate: boolean }>("select datistemplate from pg_database where datname = $1", [name]);
    if (rows[0]?.datistemplate) await admin.query(`alter database ${name} with is_template false`);
    await admin.query(`drop database if exists ${name} with (force)`);
  });
}
