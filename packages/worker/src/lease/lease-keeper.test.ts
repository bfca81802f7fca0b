import { describe, expect, test } from "vitest";
import type { Statement } from "@queue/core/internal";
import { anAttempt } from "../../test/support/an-attempt.js";
import { fakeClock, settlePromises } from "../../test/support/fake-clock.js";
import { fakeDatabase, idsIn, sqlError, statements } from "../../test/support/fake-database.js";
import { type RunningAttempt, RunningAttempts } from "../run/running-attempt.js";
import { LeaseKeeper } from "./lease-keeper.js";

type RowOf<TStatement> = TStatement extends Statement<never, infer TRow> ? TRow : never;
type ExtendedLease = RowOf<typeof statements.extendLeases>;
type EndedRow = RowOf<typeof statements.findEnded>;

const [leaseMs, heartbeatMs] = [1_000, 300];

function setUp() {
  const { database, answer, sentOf } = fakeDatabase();
  const clock = fakeClock();
  const attempts = new RunningAttempts();
  const errors: unknown[] = [];
  const blocked: number[] = [];
  const extended = (parameters: readonly unknown[], of: Partial<ExtendedLease> = {}) =>
    idsIn(parameters).map((id) => ({ id, extended: true, held: true, ...of }));
  answer(statements.extendLeases, (parameters) => extended(parameters));
  const keeper = new LeaseKeeper({
    database,
    statements,
    worker: "w",
    clock,
    attempts,
    leaseMs,
    heartbeatMs,
    ownConnection: () => undefined,
    onError: (error) => errors.push(error),
    onBlocked: (ms) => blocked.push(ms),
  });
  return {
    keeper,
    clock,
    attempts,
    errors,
    blocked,
    answer,
    extended,
    heartbeats: () => sentOf(statements.extendLeases),
    hold(attempt: RunningAttempt = anAttempt({ leaseUntilMs: leaseMs })) {
      attempts.add(attempt);
      return attempt;
    },
  };
}

const codeOf = ({ abortedBy }: RunningAttempt) => abortedBy?.code;

describe("LeaseKeeper", () => {
  test("extends everything that runs by one statement a heartbeat, and says nothing when nothing runs", async () => {
    const { keeper, clock, hold, heartbeats } = setUp();
    keeper.start();
    await clock.advanceSlowly(heartbeatMs * 3);
    expect(heartbeats()).toHaveLength(0);
    for (const id of ["7", "8", "9"]) hold(anAttempt({ id, claims: Number(id) * 10, leaseUntilMs: 60_000 }));
    for (let step = 0; step < 12 && heartbeats().length === 0; step++) await clock.advanceSlowly(heartbeatMs / 10);
    expect(heartbeats()).toHaveLength(1);
    expect(heartbeats()[0]).toEqual(expect.arrayContaining(["{7,8,9}", "{70,80,90}", "w"]));
    await keeper.stop();
    expect(clock.pending).toBe(0);
  });

  test("counts the new lease from before the heartbeat was sent", async () => {
    const { keeper, clock, hold, answer, extended } = setUp();
    const attempt = hold();
    clock.advance(200);
    answer(statements.extendLeases, (parameters) => {
      clock.advance(150);
      return extended(parameters);
    });
    await keeper.runOnce();
    expect(attempt.leaseUntilMs).toBe(200 + leaseMs);
  });

  test("leaves a job alone whose row is being written: not extended, but held", async () => {
    const { keeper, hold, answer, extended } = setUp();
    const attempt = hold();
    answer(statements.extendLeases, (parameters) => extended(parameters, { extended: false, held: true }));
    await keeper.runOnce();
    expect([attempt.isLost, attempt.abortedBy]).toEqual([false, undefined]);
  });

  test.each<[string, EndedRow[], string]>([
    ["that another has", [], "LEASE_LOST"],
    ["that was cancelled", [{ id: "1", status: "cancelled", claims: 1, worker: "w" }], "JOB_CANCELLED"],
    ["that another has done", [{ id: "1", status: "done", claims: 2, worker: "other" }], "LEASE_LOST"],
  ])("gives up a job %s, and aborts it with the reason", async (_what, ended, code) => {
    const { keeper, hold, answer, extended } = setUp();
    const attempt = hold();
    answer(statements.extendLeases, (parameters) => extended(parameters, { extended: false, held: false }));
    answer(statements.findEnded, () => ended);
    await keeper.runOnce();
    expect([attempt.isLost, codeOf(attempt)]).toEqual([true, code]);
  });

  test("does not ask again for what it has given up", async () => {
    const { keeper, hold, answer, extended, heartbeats } = setUp();
    hold();
    answer(statements.extendLeases, (parameters) => extended(parameters, { extended: false, held: false }));
    await keeper.runOnce();
    await keeper.runOnce();
    expect(heartbeats()).toHaveLength(1);
  });

  test("takes an answer about an attempt that has ended meanwhile for nobody else", async () => {
    const { keeper, hold, answer, attempts, extended } = setUp();
    const first = hold();
    let give = () => {};
    answer(statements.extendLeases, async (parameters) => {
      await new Promise<void>((resolve) => (give = resolve));
      return extended(parameters, { extended: false, held: false });
    });
    const heartbeat = keeper.runOnce();
    await settlePromises();
    attempts.delete(first);
    const second = hold(anAttempt({ attempt: 2 }));
    give();
    await heartbeat;
    expect([first.isLost, second.isLost]).toEqual([false, false]);
  });

  test("B24: survives heartbeats that fail, and keeps the job when one comes through in time", async () => {
    const { keeper, clock, hold, answer, errors, extended } = setUp();
    const attempt = hold();
    let failures = 2;
    answer(statements.extendLeases, (parameters) => {
      if (failures-- > 0) throw sqlError("57P01");
      return extended(parameters);
    });
    keeper.start();
    await clock.advanceSlowly(900);
    expect(errors).toHaveLength(2);
    expect(attempt.abortedBy).toBeUndefined();
    await clock.advanceSlowly(5_000);
    expect(attempt.abortedBy).toBeUndefined();
    await keeper.stop();
  });

  test.each([
    ["fail", () => Promise.reject(sqlError("57P01"))],
    ["are never answered", () => new Promise<never>(() => {})],
  ])(
    "aborts a job whose lease could not be confirmed, because heartbeats %s; but its outcome may still be recorded",
    async (_how, answerOf) => {
      const { keeper, clock, hold, answer } = setUp();
      const attempt = hold();
      answer(statements.extendLeases, answerOf);
      keeper.start();
      await clock.advanceSlowly(leaseMs);
      expect(attempt.abortedBy).toBeUndefined();
      await clock.advanceSlowly(heartbeatMs);
      expect([codeOf(attempt), attempt.isLost]).toEqual(["LEASE_LOST", false]);
      await Promise.all([keeper.stop(), clock.advanceSlowly(heartbeatMs * 2)]);
    },
  );

  test("sends the next heartbeat although the last one was never answered", async () => {
    const { keeper, clock, hold, answer, heartbeats, extended } = setUp();
    const attempt = hold(anAttempt({ leaseUntilMs: 60_000 }));
    let isLost = true;
    answer(statements.extendLeases, (parameters) => {
      if (!isLost) return extended(parameters);
      isLost = false;
      return new Promise<never>(() => {});
    });
    keeper.start();
    await clock.advanceSlowly(heartbeatMs * 4);
    expect(heartbeats().length).toBeGreaterThanOrEqual(2);
    expect(attempt.leaseUntilMs).toBeLessThan(60_000);
    await keeper.stop();
  });

  test("uses the listener's connection while it is up, and the pool when that fails", async () => {
    const { clock, attempts, hold } = setUp();
    const pool = fakeDatabase();
    const sent: string[] = [];
    let isUp = true;
    const own = {
      adapter: "test",
      execute: <R>({ parameters }: { readonly parameters: readonly unknown[] }): Promise<{ rows: R[] }> => {
        sent.push("own");
        if (!isUp) return Promise.reject(new Error("lost"));
        return Promise.resolve({ rows: idsIn(parameters).map((id) => ({ id, extended: true, held: true })) as R[] });
      },
    };
    pool.answer(statements.extendLeases, (parameters) => idsIn(parameters).map((id) => ({ id, extended: true, held: true })));
    const keeper = new LeaseKeeper({
      database: pool.database,
      statements,
      worker: "w",
      clock,
      attempts,
      leaseMs,
      heartbeatMs,
      ownConnection: () => own,
      onError: () => {},
      onBlocked: () => {},
    });
    const attempt = hold();
    clock.advance(100);
    await keeper.runOnce();
    expect([sent.length, pool.sent.length, attempt.leaseUntilMs]).toEqual([1, 0, 1_100]);
    isUp = false;
    clock.advance(100);
    await keeper.runOnce();
    expect([sent.length, pool.sent.length, attempt.leaseUntilMs]).toEqual([2, 1, 1_200]);
  });
});

describe("B40: an event loop that stood still", () => {
  test("is reported, with how long", async () => {
    const { keeper, clock, hold, blocked } = setUp();
    hold(anAttempt({ leaseUntilMs: 60_000 }));
    keeper.start();
    await clock.advanceSlowly(heartbeatMs * 1.1);
    expect(blocked).toEqual([]);
    // Nothing is called for three seconds, and then what has become due.
    clock.advance(0);
    const late = clock.nextInMs ?? 0;
    clock.block(3_000 + late);
    await clock.advanceSlowly(0);
    expect(blocked).toHaveLength(1);
    expect(blocked[0]).toBeGreaterThanOrEqual(2_000);
    expect(blocked[0]).toBeLessThanOrEqual(3_500);
    await keeper.stop();
  });

  test("is not what a database was that took its time", async () => {
    const { keeper, clock, hold, blocked, answer } = setUp();
    hold(anAttempt({ leaseUntilMs: 60_000 }));
    answer(statements.extendLeases, () => new Promise<never>((_resolve, reject) => clock.after(5_000, () => reject(sqlError("57014")))));
    keeper.start();
    await clock.advanceSlowly(20_000);
    expect(blocked).toEqual([]);
    await Promise.all([keeper.stop(), clock.advanceSlowly(heartbeatMs)]);
  });
});
