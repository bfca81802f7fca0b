import { createHash } from "node:crypto";

/**
 * The NOTIFY channel of a queue: a short hash of its schema. Channel names are cut at 63 bytes by LISTEN, folded when they are
 * not quoted, and refused by pg_notify when they are longer, so the schema's own name is not used.
 */
export function notificationChannel(schema: string): string {
  return `queue_${createHash("sha256").update(schema, "utf8").digest("hex").slice(0, 32)}`;
}
