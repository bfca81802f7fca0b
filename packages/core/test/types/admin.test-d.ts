import type { Admin, JobRecord, JsonValue, LaneHealth, Page, QueueHealth, RedriveResult } from "@queue/core";
import { expectTypeOf, test } from "vitest";
import { db, shopQueue } from "./shop-queue.js";

const admin = shopQueue.admin(db);

test("a page has typed records, and takes kinds that have left the code", () => {
  expectTypeOf(admin.jobs()).resolves.toEqualTypeOf<Page<JobRecord>>();
  const page = {} as Page<JobRecord>;
  void admin.jobs({ status: "dead", kind: "search.reindex", limit: 10 });
  void admin.jobs({ kind: "a.kind.that.left.the.code", after: page.next });
  expectTypeOf(page.next).toEqualTypeOf<string | null>();
  expectTypeOf<JobRecord["payload"]>().toEqualTypeOf<JsonValue>();
  // @ts-expect-error not a status
  void admin.jobs({ status: "failed" });
  // @ts-expect-error no such filter
  void admin.jobs({ before: "1" });
});

test("records carry dates, attempts, errors and the history", () => {
  expectTypeOf(admin.job("1")).resolves.toEqualTypeOf<JobRecord | null>();
  expectTypeOf(admin.retry("1")).resolves.toEqualTypeOf<JobRecord>();
  expectTypeOf(admin.cancel("1")).resolves.toEqualTypeOf<JobRecord>();
  expectTypeOf<JobRecord["status"]>().toEqualTypeOf<"queued" | "waiting" | "running" | "dead" | "done" | "cancelled">();
  expectTypeOf<JobRecord["runAt"]>().toEqualTypeOf<Date>();
  expectTypeOf<JobRecord["finishedAt"]>().toEqualTypeOf<Date | null>();
  expectTypeOf<JobRecord["lastError"]>().toEqualTypeOf<string | null>();
  expectTypeOf<JobRecord["errors"][number]["attempt"]>().toEqualTypeOf<number>();
  // @ts-expect-error ids are strings: a number is rounded above 2^53
  void admin.job(1);
});

test("redrive takes filters, and all: true, never all: false", () => {
  expectTypeOf(admin.redrive({ all: true })).resolves.toEqualTypeOf<RedriveResult>();
  expectTypeOf<RedriveResult>().toEqualTypeOf<{
    readonly count: number;
    readonly dryRun: boolean;
    readonly conflicts: readonly string[];
  }>();
  void admin.redrive({ kind: "search.reindex", lane: "search", deadAfter: new Date(), limit: 5, dryRun: true });
  // @ts-expect-error false would read as if nothing were redriven
  void admin.redrive({ all: false });
  // @ts-expect-error a filter must be given
  void admin.redrive();
});

test("health names what an operator watches", () => {
  expectTypeOf(admin.health()).resolves.toEqualTypeOf<QueueHealth>();
  expectTypeOf<LaneHealth>().toExtend<{
    readonly lane: string;
    readonly ready: number;
    readonly scheduled: number;
    readonly waiting: number;
    readonly running: number;
    readonly dead: number;
    readonly oldestReadyMs: number | null;
    readonly expiredLeases: number;
    readonly paused: boolean;
  }>();
  expectTypeOf<QueueHealth["oldestSnapshot"]>().toEqualTypeOf<{
    readonly ageMs: number;
    readonly pid: number;
    readonly application: string;
  } | null>();
  expectTypeOf<QueueHealth["kindsWithoutWorker"]>().toEqualTypeOf<string[]>();
});

test("pause and resume take any lane", () => {
  expectTypeOf(admin.pause("mail")).resolves.toEqualTypeOf<void>();
  expectTypeOf(admin.resume("mail")).resolves.toEqualTypeOf<void>();
  expectTypeOf(admin).toEqualTypeOf<Admin<typeof shopQueue.jobs>>();
});
