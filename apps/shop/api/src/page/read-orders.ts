import { type Kysely, sql } from "kysely";
import type { Database, OrderStatus } from "@shop/database";
import { orderJobKinds } from "@shop/jobs";
import { type JobState, jobState } from "./job-state.js";

/** A job of an order, as the page shows it. */
export interface OrderJobView {
  readonly state: JobState;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly lastError: string | null;
  /** Milliseconds until it is due; negative when it has been. */
  readonly dueInMs: number;
}

export interface OrderView {
  readonly id: string;
  readonly customer: string;
  readonly status: OrderStatus;
  readonly goods: string;
  readonly totalCents: number;
  readonly ageMs: number;
  readonly jobs: ReadonlyMap<string, OrderJobView>;
}

/** The newest orders with the live state of their jobs. */
export async function readOrders(db: Kysely<Database>, limit: number): Promise<OrderView[]> {
  const rows = await selectOrdersWithJobs(db, limit).execute();
  const orders = new Map<string, OrderView & { readonly jobs: Map<string, OrderJobView> }>();
  for (const row of rows) {
    const order = orders.get(row.id) ?? {
      id: row.id,
      customer: row.customer,
      status: row.order_status,
      goods: row.goods ?? "",
      totalCents: row.total_cents,
      ageMs: Number(row.age_ms),
      jobs: new Map(),
    };
    orders.set(row.id, order);
    if (row.kind === null || row.status === null) continue;
    order.jobs.set(row.kind, {
      state: jobState({ status: row.status, attempts: row.attempts ?? 0, isDue: Number(row.due_in_ms) <= 0 }),
      attempts: row.attempts ?? 0,
      maxAttempts: row.max_attempts ?? 0,
      lastError: row.last_error,
      dueInMs: Number(row.due_in_ms),
    });
  }
  return [...orders.values()];
}

/**
 * Orders joined with their jobs, live or archived, through the idempotency key: `placeOrder` enqueues each job with the number
 * of its order as the key, and `queue.job_keys` leads from (kind, key) to the id of the job. It forgets a key after 30 days,
 * long after the newest orders that are shown here. (`all_jobs.payload ->> 'orderId'` would join as well, but by reading all of
 * the archive.)
 *
 * The ids are given to `all_jobs` a second time, as an array, because the archive has a BRIN index on them: for a join alone
 * the planner reads all of it, 250 ms instead of 20 at 600,000 jobs.
 */
function selectOrdersWithJobs(db: Kysely<Database>, limit: number) {
  return db
    .with("newest", (cte) => cte.selectFrom("orders").selectAll().orderBy("placed_at", "desc").orderBy("id", "desc").limit(limit))
    .with("keys", (cte) =>
      cte
        .selectFrom("newest as n")
        .innerJoin("queue.job_keys as k", "k.key", "n.id")
        .where("k.kind", "in", [...orderJobKinds])
        .select(["k.key", "k.job_id"]),
    )
    .selectFrom("newest as o")
    .innerJoin("customers as c", "c.id", "o.customer_id")
    .leftJoin("keys as k", "k.key", "o.id")
    .leftJoin("queue.all_jobs as j", (join) =>
      join.onRef("j.id", "=", "k.job_id").on(sql<boolean>`j.id = any(array(select job_id from keys))`),
    )
    .select(["o.id", "o.status as order_status", "o.total_cents", "c.name as customer"])
    .select(["j.kind", "j.status", "j.attempts", "j.max_attempts", "j.last_error"])
    .select((eb) => [
      sql<string>`extract(epoch from clock_timestamp() - ${eb.ref("o.placed_at")}) * 1000`.as("age_ms"),
      sql<string | null>`extract(epoch from ${eb.ref("j.run_at")} - clock_timestamp()) * 1000`.as("due_in_ms"),
      eb
        .selectFrom("order_lines as l")
        .innerJoin("products as p", "p.id", "l.product_id")
        .whereRef("l.order_id", "=", "o.id")
        .select(sql<string>`string_agg(l.quantity || ' × ' || p.name, ' · ' order by p.id)`.as("goods"))
        .as("goods"),
    ])
    .orderBy("o.placed_at", "desc")
    .orderBy("o.id", "desc");
}
