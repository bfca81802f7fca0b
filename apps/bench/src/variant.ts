/** A side, at one of its settings. */
export interface Variant {
  readonly side: Side;
  readonly settings: "best" | "defaults";
  readonly label: string;
}

export const sides = ["ours", "graphile-worker", "pg-boss", "raw-sql", "bullmq"] as const;
export type Side = (typeof sides)[number];

/** Those that a bar calls "the peers": other libraries on PostgreSQL. */
export const postgresPeers: readonly Side[] = ["graphile-worker", "pg-boss"];

/** In the order in which they take their turns, and stand in the tables. */
export const variants: readonly Variant[] = [
  { side: "ours", settings: "best", label: "ours" },
  { side: "graphile-worker", settings: "best", label: "graphile-worker, best" },
  { side: "graphile-worker", settings: "defaults", label: "graphile-worker, defaults" },
  { side: "pg-boss", settings: "best", label: "pg-boss, best" },
  { side: "pg-boss", settings: "defaults", label: "pg-boss, defaults" },
  { side: "raw-sql", settings: "best", label: "raw SQL" },
  { side: "bullmq", settings: "best", label: "BullMQ on Redis, best" },
  { side: "bullmq", settings: "defaults", label: "BullMQ on Redis, defaults" },
];
