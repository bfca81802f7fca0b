import { type Kysely, sql } from "kysely";
import { type Database, products, troubledCustomer } from "@shop/database";

/** What became of some orders and their jobs, as the database has it. */
export interface Outcome {
  readonly jobs: number;
  readonly done: number;
  readonly dead: number;
  /** Neither done nor dead. */
  readonly open: number;
  readonly retries: number;
  /** The longest time between due and started, of the attempts that succeeded. */
  readonly slowestPickUpMs: number;
  readonly receiptsDone: number;
  readonly shipmentsDone: number;
  readonly mails: number;
  readonly shippedOrders: number;
  readonly textMessages: number;
  /** Of orders of other customers than the one for whom everything fails. */
  readonly unexpectedDead: number;
  /** Orders that have not exactly three jobs. */
  readonly incompleteOrders: number;
  /** Products whose stock and sales do not add up to what there was. */
  readonly lostProducts: number;
}

export async function readOutcome(db: Kysely<Database>, orderIds: readonly string[]): Promise<Outcome> {
  return {
    ...(await readJobs(db, orderIds)),
    ...(await readEffects(db, orderIds)),
    lostProducts: await countLostProducts(db),
  };
}

async function readJobs(db: Kysely<Database>, orderIds: readonly string[]) {
  const jobs = await db
    .selectFrom("orders as o")
    .innerJoin("queue.job_keys as k", "k.key", "o.id")
    .innerJoin("queue.all_jobs as j", "j.id", "k.job_id")
    .where("o.id", "in", [...orderIds])
    .select(["o.id as orderId", "o.customer_id as customerId", "j.kind", "j.status", "j.attempts"])
    .select((eb) => sql<string | null>`extract(epoch from ${eb.ref("j.started_at")} - ${eb.ref("j.run_at")}) * 1000`.as("pick_up_ms"))
    .execute();
  const done = jobs.filter(({ status }) => status === "done");
  const dead = jobs.filter(({ status }) => status === "dead");
  const jobsOf = new Map(orderIds.map((id) => [id, 0]));
  for (const { orderId } of jobs) jobsOf.set(orderId, (jobsOf.get(orderId) ?? 0) + 1);
  return {
    jobs: jobs.length,
    done: done.length,
    dead: dead.length,
    open: jobs.length - done.length - dead.length,
    retries: jobs.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
    slowestPickUpMs: Math.max(0, ...done.map((job) => Number(job.pick_up_ms))),
    receiptsDone: done.filter(({ kind }) => kind === "order.send-receipt").length,
    shipmentsDone: done.filter(({ kind }) => kind === "order.notify-warehouse").length,
    unexpectedDead: dead.filter(({ customerId }) => customerId !== troubledCustomer.id).length,
    incompleteOrders: [...jobsOf.values()].filter((count) => count !== 3).length,
  };
}

async function readEffects(db: Kysely<Database>, orderIds: readonly string[]) {
  const count = db.fn.countAll<string>().as("count");
  const shipped = db
    .selectFrom("orders")
    .select(count)
    .where("id", "in", [...orderIds])
    .where("status", "=", "shipped");
  const mails = db
    .selectFrom("mails")
    .select(count)
    .where("reference", "in", [...orderIds]);
  const texts = db
    .selectFrom("text_messages")
    .select(count)
    .where("reference", "in", [...orderIds]);
  return {
    shippedOrders: Number((await shipped.executeTakeFirstOrThrow()).count),
    mails: Number((await mails.executeTakeFirstOrThrow()).count),
    textMessages: Number((await texts.executeTakeFirstOrThrow()).count),
  };
}

/** Over all orders there are: what was sold and what is left make up what the seed data put there. */
async function countLostProducts(db: Kysely<Database>): Promise<number> {
  const rows = await db
    .selectFrom("products as p")
    .leftJoin("order_lines as l", "l.product_id", "p.id")
    .groupBy(["p.id", "p.stock"])
    .select(["p.id", "p.stock"])
    .select(sql<string>`coalesce(sum(l.quantity), 0)`.as("sold"))
    .execute();
  const counted = new Map(rows.map(({ id, stock, sold }) => [id, stock + Number(sold)]));
  return products.filter(({ id, stock }) => counted.get(id) !== stock).length;
}
