import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { programVersion } from "@queue/test-database";

/** The folder of an installed PostgreSQL, in whose `bin` its programs are; undefined when there is none of this release. */
export function findInstalled(major: number): string | undefined {
  return places(major).find((folder) => programVersion(join(folder, "bin", "postgres")) === major);
}

/** Where it was looked for, for whoever has to install it. */
export function places(major: number): readonly string[] {
  const named = process.env["POSTGRES_BIN"];
  const configured = spawnSync("pg_config", ["--bindir"], { encoding: "utf8" });
  return [
    ...(named === undefined || named === "" ? [] : [join(named, "..")]),
    `/usr/lib/postgresql/${major}`,
    `/usr/pgsql-${major}`,
    `/opt/homebrew/opt/postgresql@${major}`,
    `/usr/local/opt/postgresql@${major}`,
    ...(configured.status === 0 ? [join(configured.stdout.trim(), "..")] : []),
  ];
}
