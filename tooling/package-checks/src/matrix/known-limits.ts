/** Where a package does not work, for a reason that is known. */
export interface KnownLimit {
  readonly environments: readonly string[];
  /** The folder of the package. */
  readonly package: string;
  /** A piece of what is said there. */
  readonly error: string;
  /** For those who read the table. */
  readonly reason: string;
}

/** One that works after all fails the run, so that it is taken out. */
const limits: readonly KnownLimit[] = [];

/** The limit that is known for a package in an environment. */
export function findLimit(environment: string, packageName: string): KnownLimit | undefined {
  return limits.find((limit) => limit.package === packageName && limit.environments.includes(environment));
}
