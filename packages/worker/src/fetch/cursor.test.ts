import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cursor, type Place } from "./cursor.js";

/** The rungs, in milliseconds. */
const ladder = [250, 1_000, 4_000, 16_000, 64_000, 256_000];
const deepestMs = 256_000;
/** When the tests begin, by both clocks. */
const startMs = 1_000_000_000;

const micros = (ms: number) => ms * 1_000;

/** A cursor that has read its line to the end, and has just looked down the whole ladder. */
function readCursor(nowMs = startMs): Cursor {
  const cursor = new Cursor();
  for (let round = 0; round < 2; round++) {
    cursor.begin(nowMs);
    cursor.readToEnd(micros(nowMs), cursor.version);
  }
  return cursor;
}

/** How far below `fromMs` a claim begins. */
function depth(place: Place | undefined, fromMs: number): number {
  return place === undefined ? Number.POSITIVE_INFINITY : fromMs - place.at / 1_000;
}

describe("a cursor", () => {
  test("is nowhere until a claim has read", () => {
    const cursor = new Cursor();
    expect([cursor.place, cursor.begin(startMs), cursor.begin(startMs + 1_000_000)]).toEqual([undefined, undefined, undefined]);
  });

  test("stands where the claim has read to, and lets the next one look down the whole ladder first", () => {
    const cursor = new Cursor();
    cursor.begin(startMs);
    cursor.readToEnd(micros(startMs), cursor.version);
    expect(cursor.place).toEqual({ at: micros(startMs), id: "0" });
    expect(cursor.begin(startMs)).toEqual({ at: micros(startMs - deepestMs), id: "0" });
  });

  test("lets every claim look 250 ms below the end of what was read", () => {
    const cursor = readCursor();
    for (let round = 0; round < 3; round++) expect(depth(cursor.begin(startMs), startMs)).toBe(250);
  });

  test("lets a look go as deep as each rung as often as a quarter of it, and no more often", () => {
    const cursor = readCursor();
    const looks = new Map<number, number[]>(ladder.map((rung) => [rung, [startMs]]));
    const untilMs = startMs + 2 * deepestMs;
    for (let nowMs = startMs; nowMs <= untilMs; nowMs += 10) {
      const depthMs = Math.round(depth(cursor.begin(nowMs), cursor.place === undefined ? 0 : cursor.place.at / 1_000));
      for (const rung of ladder) if (depthMs >= rung) looks.get(rung)?.push(nowMs);
      cursor.readToEnd(micros(nowMs), cursor.version);
    }
    for (const [rung, at] of looks) {
      const gaps = at.slice(1).map((ms, n) => ms - (at[n] ?? 0));
      expect(Math.max(...gaps)).toBeLessThanOrEqual(rung / 4 + 10);
      // The smallest is the one that every claim looks to.
      if (rung > 250) expect(Math.min(...gaps)).toBeGreaterThanOrEqual(rung / 4);
    }
  });

  test("in the middle of a line is exact, also among jobs that are due at the same microsecond", () => {
    const cursor = readCursor();
    cursor.readUntil({ at: 123_456_789, id: "42" }, cursor.version);
    expect(cursor.begin(startMs)).toEqual({ at: 123_456_789, id: "42" });
    expect(cursor.begin(startMs + 62)).toEqual({ at: 123_456_789, id: "42" });
  });

  test("in the middle of a line lets a claim look below it now and then all the same", () => {
    const cursor = readCursor();
    const last = { at: 123_456_789, id: "42" };
    const deep = [];
    for (let nowMs = startMs; nowMs < startMs + 1_000; nowMs += 5) {
      cursor.readUntil(last, cursor.version);
      const place = cursor.begin(nowMs);
      if (place?.id !== "42") deep.push((last.at - (place?.at ?? 0)) / 1_000);
    }
    expect(deep.length).toBeGreaterThanOrEqual(14);
    expect(deep.length).toBeLessThanOrEqual(16);
    expect(new Set(deep)).toEqual(new Set([250, 1_000]));
  });

  test("goes back to where a claim has stopped, however far below an earlier place", () => {
    const cursor = readCursor();
    cursor.readUntil({ at: 5, id: "7" }, cursor.version);
    expect(cursor.place).toEqual({ at: 5, id: "7" });
  });

  test("is undisturbed by a database clock that is a moment behind what it said before", () => {
    const cursor = readCursor();
    cursor.readToEnd(micros(startMs - 90), cursor.version);
    expect(cursor.place).toEqual({ at: micros(startMs - 90), id: "0" });
  });

  test("begins anew when the database's clock was set back, and goes on by the new time", () => {
    const cursor = readCursor();
    const backMs = startMs - 3_600_000;
    cursor.readToEnd(micros(backMs), cursor.version);
    expect(cursor.begin(startMs + 1)).toBeUndefined();
    cursor.readToEnd(micros(backMs + 1), cursor.version);
    expect(cursor.place).toEqual({ at: micros(backMs + 1), id: "0" });
  });

  test("does not take an answer that is late for a clock that was set back", () => {
    const cursor = readCursor();
    // Two claims on their way: the first one goes down the ladder, and is slow.
    const sentAtMs = [startMs + 64_000, startMs + 64_200] as const;
    const [slow, fast] = sentAtMs.map((nowMs) => {
      cursor.begin(nowMs);
      return { at: micros(nowMs), version: cursor.version };
    });
    for (const sent of [fast, slow]) if (sent !== undefined) cursor.readToEnd(sent.at, sent.version);
    expect(cursor.place).toBeDefined();
  });
});

/** A claim is under way; what to give back with its answer. */
function send(cursor: Cursor): number {
  cursor.begin(startMs);
  return cursor.version;
}

describe("a cursor that is lowered", () => {
  test("begins no higher than where the job is due, until a claim that began after that has read on", () => {
    const cursor = readCursor();
    cursor.lower(1_000_000);
    expect(cursor.begin(startMs)?.at).toBeLessThanOrEqual(1_000_000);
    cursor.readToEnd(micros(startMs), cursor.version);
    expect(cursor.place?.at).toBe(micros(startMs));
  });

  test("stays where it is when the job is due later", () => {
    const cursor = readCursor();
    cursor.lower(micros(startMs + 5));
    expect(cursor.place).toEqual({ at: micros(startMs), id: "0" });
  });

  test("is not exact any more: the job may be due at the same microsecond, and have a smaller id", () => {
    const cursor = readCursor();
    cursor.readUntil({ at: micros(startMs), id: "42" }, cursor.version);
    cursor.lower(micros(startMs));
    expect(depth(cursor.begin(startMs), startMs)).toBe(250);
  });

  test.each(["readToEnd", "readUntil"] as const)("is not raised by the answer to a claim that was sent before (%s)", (answer) => {
    const cursor = readCursor();
    const [version, second] = [send(cursor), send(cursor)] as const;
    cursor.lower(1_000_000);
    if (answer === "readToEnd") cursor.readToEnd(micros(startMs + 1), version);
    else cursor.readUntil({ at: micros(startMs + 1), id: "9" }, version);
    expect(cursor.place).toEqual({ at: 1_000_000, id: "0" });
    // Not even by the second one of them.
    cursor.readToEnd(micros(startMs + 2), second);
    expect(cursor.place).toEqual({ at: 1_000_000, id: "0" });
  });

  test("several times stays at the lowest that no claim has seen", () => {
    const cursor = readCursor();
    const before = send(cursor);
    cursor.lower(2_000_000);
    const between = send(cursor);
    cursor.lower(1_000_000);
    cursor.lower(3_000_000);
    cursor.readToEnd(micros(startMs), before);
    expect(cursor.place?.at).toBe(1_000_000);
    cursor.readToEnd(micros(startMs), between);
    expect(cursor.place?.at).toBe(1_000_000);
    cursor.readToEnd(micros(startMs), send(cursor));
    expect(cursor.place?.at).toBe(micros(startMs));
  });

  test("keeps a lowering that another claim has seen and that an earlier claim, answered later, has not", () => {
    const cursor = readCursor();
    const earlier = send(cursor);
    cursor.lower(1_000_000);
    // A claim that stops in the middle of what came: the earlier one has seen nothing of the rest.
    cursor.readUntil({ at: 2_000_000, id: "5" }, send(cursor));
    cursor.readToEnd(micros(startMs + 1), earlier);
    expect(cursor.place?.at).toBeLessThanOrEqual(2_000_000);
  });

  test("rises all the same when there are many notifications a second, one during each claim", () => {
    const cursor = readCursor();
    for (let nowMs = startMs; nowMs < startMs + 10_000; nowMs += 5) {
      const secondAt = Math.floor(nowMs / 1_000) * 1_000_000;
      cursor.lower(secondAt);
      cursor.begin(nowMs);
      const { version } = cursor;
      cursor.lower(secondAt);
      cursor.readToEnd(micros(nowMs + 1), version);
      expect(nowMs - (cursor.place?.at ?? 0) / 1_000).toBeLessThanOrEqual(1_000);
    }
  });

  test("by nothing goes down the whole ladder, once", () => {
    const cursor = readCursor();
    expect(depth(cursor.begin(startMs), startMs)).toBe(250);
    cursor.lookFarBelow();
    expect(depth(cursor.begin(startMs), startMs)).toBe(deepestMs);
    expect(depth(cursor.begin(startMs), startMs)).toBe(250);
  });
});

describe("a cursor that is lowered while no claim is under way", () => {
  test("keeps nothing for later: a worker without a free slot hears of jobs for days", () => {
    const cursor = readCursor();
    for (let second = 0; second < 100_000; second++) cursor.lower(second * 1_000_000);
    expect(cursor.place?.at).toBe(0);
    cursor.readToEnd(micros(startMs), send(cursor));
    expect(cursor.place?.at).toBe(micros(startMs));
  });
});

describe("a cursor that is reset", () => {
  test("begins anew, and is not raised by claims that were sent before", () => {
    const cursor = readCursor();
    const versions = [send(cursor), send(cursor)] as const;
    cursor.reset();
    expect([cursor.place, cursor.begin(startMs)]).toEqual([undefined, undefined]);
    cursor.readToEnd(micros(startMs), versions[0]);
    cursor.readUntil({ at: 1, id: "1" }, versions[1]);
    expect(cursor.begin(startMs)).toBeUndefined();
    cursor.readToEnd(micros(startMs), cursor.version);
    expect(cursor.place?.at).toBe(micros(startMs));
  });

  test("stays nowhere when it is lowered", () => {
    const cursor = readCursor();
    const version = send(cursor);
    cursor.reset();
    cursor.lower(5);
    cursor.readToEnd(micros(startMs), version);
    expect(cursor.begin(startMs)).toBeUndefined();
  });
});

describe("a job that commits late, and that nobody hears of", () => {
  test("is looked at within a quarter of the smallest rung that covers it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 200 }),
        fc.nat({ max: 30 }),
        fc.integer({ min: 1, max: 200_000 }),
        fc.boolean(),
        (pausesMs, after, ageMs, isBusy) => {
          // It is deeper below the cursor by what passes until the look comes.
          const rung = ladder.find((depthMs) => ageMs + depthMs / 4 <= depthMs);
          if (rung === undefined) return;
          const cursor = readCursor();
          let nowMs = startMs;
          let committedMs = Number.POSITIVE_INFINITY;
          const dueAt = () => micros(committedMs - ageMs);
          for (const [n, pauseMs] of [...pausesMs, rung / 4, rung / 4].entries()) {
            if (n === Math.min(after, pausesMs.length)) committedMs = nowMs;
            nowMs += pauseMs;
            const place = cursor.begin(nowMs);
            if (committedMs <= nowMs && (place === undefined || place.at <= dueAt())) return;
            if (nowMs >= committedMs + rung / 4) expect.fail(`Committed ${nowMs - committedMs} ms ago, due for ${ageMs} ms before that.`);
            // A busy line stops at the limit, at a job that has only just become due.
            if (isBusy) cursor.readUntil({ at: micros(nowMs), id: String(n) }, cursor.version);
            else cursor.readToEnd(micros(nowMs), cursor.version);
          }
          expect.fail("It was never looked at.");
        },
      ),
      { numRuns: 500 },
    );
  });
});

interface Job {
  readonly id: number;
  readonly at: number;
}

interface Sent {
  readonly rows: readonly Job[];
  readonly isCut: boolean;
  readonly now: number;
  readonly version: number;
}

/** A line of jobs, and a worker that has at most two claims on their way, which are answered in any order. */
class ModelLine {
  readonly cursor = new Cursor();
  readonly #sent: Sent[] = [];
  #queued: Job[] = [];
  #unheard: number[] = [];
  #nowMs = startMs;
  #lastId = 0;

  get left(): number {
    return this.#queued.length;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** A transaction commits that enqueued so long ago; its notification comes at once, or is on its way. */
  commit(ageMs: number, count: number, isHeard: boolean): void {
    const at = micros(this.#nowMs - ageMs);
    for (let n = 0; n < count; n++) this.#queued.push({ id: ++this.#lastId, at: at - Math.floor(n / 2) });
    this.#unheard.push(Math.floor((at - count / 2) / 1_000_000) * 1_000_000);
    if (isHeard) this.hear();
  }

  hear(): void {
    for (const at of this.#unheard.splice(0)) this.cursor.lower(at);
  }

  claim(limit: number): void {
    if (this.#sent.length === 2) return;
    const place = this.cursor.begin(this.#nowMs);
    const now = micros(this.#nowMs);
    const isReached = ({ at, id }: Job) =>
      at <= now && (place === undefined || at > place.at || (at === place.at && id >= Number(place.id)));
    const rows = this.#queued
      .filter(isReached)
      .sort((a, b) => a.at - b.at || a.id - b.id)
      .slice(0, limit);
    this.#queued = this.#queued.filter((job) => !rows.includes(job));
    this.#sent.push({ rows, isCut: rows.length === limit, now, version: this.cursor.version });
  }

  answer(nth: number): void {
    const [sent] = this.#sent.splice(nth % Math.max(1, this.#sent.length), 1);
    if (sent === undefined) return;
    const last = sent.rows.at(-1);
    if (!sent.isCut) this.cursor.readToEnd(sent.now, sent.version);
    else if (last !== undefined) this.cursor.readUntil({ at: last.at, id: String(last.id) }, sent.version);
  }

  /** Its connection is lost: what it had locked is free again. */
  fail(nth: number): void {
    const [sent] = this.#sent.splice(nth % Math.max(1, this.#sent.length), 1);
    if (sent === undefined) return;
    this.#queued.push(...sent.rows);
    this.cursor.reset();
  }

  /** Claims until a claim comes back short. */
  drain(): void {
    while (this.#sent.length > 0) this.answer(0);
    this.hear();
    for (let rounds = 0; rounds < 1_000; rounds++) {
      this.claim(7);
      const isShort = this.#sent[0]?.isCut === false;
      this.answer(0);
      if (isShort) return;
    }
  }
}

describe("jobs that are heard of", () => {
  const step = fc.oneof(
    { weight: 1, arbitrary: fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 5_000 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant("commit" as const),
        ageMs: fc.oneof(fc.nat({ max: 600_000 }), fc.constant(3_600_000)),
        count: fc.integer({ min: 1, max: 6 }),
        isHeard: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("hear" as const) }) },
    { weight: 5, arbitrary: fc.record({ type: fc.constant("claim" as const), limit: fc.constantFrom(1, 3, 100) }) },
    { weight: 5, arbitrary: fc.record({ type: fc.constant("answer" as const), nth: fc.nat({ max: 1 }) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant("fail" as const), nth: fc.nat({ max: 1 }) }) },
  );

  test("are all found by claims that go on until one comes back short, however answers, failures and notifications mix", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const line = new ModelLine();
        for (const one of steps) {
          if (one.type === "pass") line.pass(one.ms);
          else if (one.type === "commit") line.commit(one.ageMs, one.count, one.isHeard);
          else if (one.type === "claim") line.claim(one.limit);
          else if (one.type === "hear") line.hear();
          else line[one.type](one.nth);
        }
        line.drain();
        expect(line.left).toBe(0);
      }),
      { numRuns: 3_000 },
    );
  });
});
