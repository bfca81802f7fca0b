import { type CamelCaseQueueDatabase, createQueue, job, type QueueDatabase, type QueueTables } from "@queue/core";
import type { Kysely, Selectable, Transaction } from "kysely";
import { expectTypeOf, test } from "vitest";
import { db, type ShopDatabase } from "./shop-queue.js";

declare const both: Kysely<ShopDatabase & QueueDatabase>;
const elsewhere = createQueue({ schema: "background", jobs: { a: job<{ x: 1 }>() } });

test("the application joins its tables to the jobs", () => {
  const rows = both
    .selectFrom("queue.jobs")
    .innerJoin("orders", "orders.id", "queue.jobs.idempotency_key")
    .select(["queue.jobs.id", "queue.jobs.status", "orders.total", "run_at"])
    .where("queue.jobs.kind", "=", "order.send-receipt")
    .execute();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<{
    id: string;
    status: "queued" | "waiting" | "running" | "dead";
    total: number;
    run_at: Date;
  }>();
});

test("aliases and left joins keep their types", () => {
  const rows = both
    .selectFrom("queue.jobs as j")
    .leftJoin("queue.jobs_archive as a", "a.id", "j.id")
    .select(["j.id", "a.finished_at"])
    .execute();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<{ id: string; finished_at: Date | null }>();
  // @ts-expect-error no such column
  both.selectFrom("queue.jobs as j").select("j.runAt");
});

test("the view over both tables has every status", () => {
  const rows = both.selectFrom("queue.all_jobs").select(["status", "finished_at"]).execute();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<{
    status: "queued" | "waiting" | "running" | "dead" | "done" | "cancelled";
    finished_at: Date | null;
  }>();
});

test("withTables leaves the application's own type alone", () => {
  const rows = db
    .withTables<QueueDatabase>()
    .selectFrom("queue.jobs as j")
    .innerJoin("orders as o", "o.id", "j.id")
    .select(["j.id", "o.email"])
    .execute();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<{ id: string; email: string }>();
});

test("rows are read, and written through the API only", () => {
  // @ts-expect-error a status is not written by hand
  both.updateTable("queue.jobs").set({ status: "dead" });
  // @ts-expect-error nor is a key
  both.updateTable("queue.job_keys").set({ key: "k" });
  expectTypeOf<Selectable<QueueTables["jobs"]>["run_at"]>().toEqualTypeOf<Date>();
  expectTypeOf<Selectable<QueueTables["jobs"]>["id"]>().toEqualTypeOf<string>();
  expectTypeOf<Selectable<QueueTables["jobs_archive"]>["status"]>().toEqualTypeOf<"done" | "cancelled">();
});

test("another schema has another prefix", () => {
  const other = {} as Kysely<ShopDatabase & QueueDatabase<typeof elsewhere.schema>>;
  expectTypeOf(other.selectFrom("background.jobs as j").select("j.id").execute()).resolves.items.toEqualTypeOf<{ id: string }>();
  // @ts-expect-error "queue.jobs" is not a table of this database
  other.selectFrom("queue.jobs");
});

test("with the camel-case plugin tables and columns are camel-cased, and the prefix is not", () => {
  const camel = {} as Kysely<CamelCaseQueueDatabase>;
  const rows = camel.selectFrom("queue.jobsArchive as a").select(["a.runAt", "a.finishedAt", "a.lastError"]).execute();
  expectTypeOf(rows).resolves.items.toEqualTypeOf<{ runAt: Date; finishedAt: Date; lastError: string | null }>();
  const named = {} as Kysely<CamelCaseQueueDatabase<"my_jobs">>;
  expectTypeOf(named.selectFrom("my_jobs.jobKeys").select("expiresAt").execute()).resolves.items.toEqualTypeOf<{ expiresAt: Date }>();
});

test("a transaction over both is no Kysely of the application alone: one alias for the whole, or withTables", () => {
  const repository = (first: Kysely<ShopDatabase>) => first;
  const trxOfBoth = {} as Transaction<ShopDatabase & QueueDatabase>;
  // @ts-expect-error the types of 'withTables().fn.jsonAgg(...).expressionType' are incompatible
  repository(trxOfBoth);
});
