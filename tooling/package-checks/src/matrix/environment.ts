import type { WorkspacePackage } from "../workspace-package.js";
import type { Lab } from "./lab.js";

/** A row of the matrix: something that packages are to work in. */
export interface Environment {
  /** For `--environment`. */
  readonly id: string;
  /** For people, with its version. */
  readonly label: string;
  /** What a package does there. */
  readonly does: string;
  /** The folders of the packages that are tried. */
  readonly packages: readonly string[];
  /** What is wrong with `subject` there; nothing, if it works. */
  check(lab: Lab, subject: WorkspacePackage): Promise<readonly string[]>;
}

/** Everything that is published, in the order of the table. */
export const everyPackage = [
  "core",
  "worker",
  "pg",
  "postgres-js",
  "neon",
  "pglite",
  "drizzle",
  "knex",
  "prisma",
  "typeorm",
  "mikro-orm",
  "testing",
  "cli",
] as const;
