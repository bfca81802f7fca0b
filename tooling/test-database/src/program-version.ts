import { spawnSync } from "node:child_process";

/** The major version that a program of PostgreSQL says it has: 15. NaN when it does not start. */
export function programVersion(program: string): number {
  const { stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return Number(/\(PostgreSQL\) (\d+)/.exec(stdout ?? "")?.[1]);
}
