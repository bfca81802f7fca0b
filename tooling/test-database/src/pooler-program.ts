import { spawnSync } from "node:child_process";

/** An installed PgBouncer. */
export interface PoolerProgram {
  readonly path: string;
  /** 11800 is 1.18. */
  readonly version: number;
}

/** Debian puts it where only root's PATH looks. */
const places = ["pgbouncer", "/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"];

/** The PgBouncer that the environment variable `PGBOUNCER` names, or that is installed; undefined when there is none. */
export function findPooler(): PoolerProgram | undefined {
  const named = process.env["PGBOUNCER"];
  for (const path of named === undefined || named === "" ? places : [named]) {
    const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
    const [, major, minor] = (status === 0 && /^PgBouncer (\d+)\.(\d+)/.exec(stdout)) || [];
    if (major !== undefined && minor !== undefined) return { path, version: Number(major) * 10_000 + Number(minor) * 100 };
  }
  return undefined;
}

/** What to tell whoever has none. */
export const poolerMissing =
  "PgBouncer is not installed: `apt-get install pgbouncer`, `brew install pgbouncer`, or name its program in the environment variable PGBOUNCER.";
