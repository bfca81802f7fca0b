import type { PoolerProgram } from "./pooler-program.js";

export interface PoolerSettingsOptions {
  /** Of the server behind it. */
  readonly url: URL;
  readonly port: number;
  readonly userFile: string;
  readonly version: PoolerProgram["version"];
  readonly overrides: Readonly<Record<string, string>>;
}

/** The first release that can keep track of named statements, and has a setting to leave that. */
const namedStatementsVersion = 12_100;

/** The configuration of a PgBouncer that gives a client nothing that outlives a transaction. */
export function poolerSettings({ url, port, userFile, version, overrides }: PoolerSettingsOptions): string {
  const settings: Readonly<Record<string, string>> = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    // A server that wants no password has none that could be asked for.
    auth_type: url.password === "" ? "trust" : "scram-sha-256",
    auth_file: userFile,
    pool_mode: "transaction",
    // For each database and user: fewer than a worker's pool, so that its clients wait for each other.
    default_pool_size: "2",
    max_client_conn: "2000",
    ...(version >= namedStatementsVersion ? { max_prepared_statements: "0" } : {}),
    ...overrides,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return ["[databases]", `* = host=${url.hostname} port=${url.port === "" ? "5432" : url.port}`, "", "[pgbouncer]", ...lines, ""].join(
    "\n",
  );
}

/** The content of the file of users: the password that clients give, and that the server is given. */
export function poolerUser(url: URL): string {
  const quote = (text: string) => `"${decodeURIComponent(text).replaceAll('"', '""')}"`;
  return `${quote(url.username)} ${quote(url.password)}\n`;
}
