/**
 * What a `PrismaClient`, its extensions and its transactions have in common: the driver adapter they were given. It is no public
 * member; where a version of Prisma keeps it elsewhere, the queue's tables are looked for once more in each transaction.
 */
export function scopeOf(client: object): object | undefined {
  const { _engineConfig: config } = client as { readonly _engineConfig?: { readonly adapter?: unknown } };
  return typeof config?.adapter === "object" && config.adapter !== null ? config.adapter : undefined;
}
