/** Five digits and capitals, at least one digit: unlike `EPIPE` of the network; and unlike `P2010` of Prisma, whose class is P0 here. */
const shape = /^(?!P[1-9])(?=.*\d)[0-9A-Z]{5}$/;

/**
 * The SQLSTATE of a driver's error, wherever the libraries between put it: pg, postgres.js and knex at `code`, drizzle at
 * `cause.code`, sequelize at `original.code`, Prisma at `meta.driverAdapterError.cause`: `originalCode` of those that it has a name
 * for, `code` of the others; of a failed commit at `cause.originalCode`.
 */
export function sqlStateOf(error: unknown): string | undefined {
  try {
    for (const path of [
      ["code"],
      ["cause", "code"],
      ["cause", "originalCode"],
      ["original", "code"],
      ["meta", "driverAdapterError", "cause", "originalCode"],
      ["meta", "driverAdapterError", "cause", "code"],
    ]) {
      const code = path.reduce<unknown>(
        (value, key) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined),
        error,
      );
      if (typeof code === "string" && shape.test(code)) return code;
    }
  } catch {
    // A proxy or a getter that throws is no driver's error.
  }
  return undefined;
}
