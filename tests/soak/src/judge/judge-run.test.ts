import { describe, expect, it } from "vitest";
import { aRecording, type Deviation } from "../../test/support/a-recording.js";
import { judgeRun } from "./judge-run.js";

/** The names of the verdicts that were missed. */
function missedBy(deviation: Deviation): string[] {
  return judgeRun(aRecording(deviation))
    .filter(({ outcome }) => outcome === "missed")
    .map(({ name }) => name);
}

const mebibyte = 2 ** 20;

describe("a healthy run", () => {
  it("holds every bar", () => {
    const verdicts = judgeRun(aRecording());
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(verdicts.map(() => "held"));
    expect(verdicts.length).toBe(13);
  });

  it("of a minute and a half is too short for most bars, and misses none", () => {
    const outcomes = judgeRun(aRecording(() => ({}), { minutes: 1.5 })).map(({ outcome }) => outcome);
    expect(outcomes).not.toContain("missed");
    expect(outcomes).toContain("short");
    expect(outcomes).toContain("held");
  });
});

describe("a run is missed by its", () => {
  it("producers, when they fall behind in one minute", () => {
    const slow: Deviation = (minute) => (minute > 14 && minute <= 15.2 ? { server: { enqueued: 9_700, ended: 9_700 } } : {});
    expect(missedBy(slow)).toEqual(["arrivals keep the rate"]);
  });

  it("completions, when one minute has two in a hundred fewer", () => {
    expect(missedBy((minute) => (minute > 14 && minute <= 15 ? { server: { ended: 9_800 } } : {}))).toEqual([
      "completions keep pace with arrivals",
    ]);
  });

  it("claims, when two in a hundred jobs of a minute begin late", () => {
    const late: Deviation = (minute) =>
      minute > 14 && minute <= 15.2
        ? {
            server: {
              startLatency: [
                [2, 9_800],
                [60, 200],
              ],
            },
          }
        : {};
    expect(missedBy(late)).toEqual(["start p99, due to claimed"]);
  });

  it("no claims of a minute in which a process stood still to have its objects counted", () => {
    const counted: Deviation = (minute) =>
      minute > 14.17 && minute <= 15.17
        ? { server: { startLatency: [[60, 10_000]] }, process: { stoodStillMs: minute > 15.1 ? 2_000 : 15 } }
        : {};
    expect(missedBy(counted)).toEqual([]);
  });

  it("handlers, when they begin late although the claim was in time", () => {
    expect(missedBy((minute) => (minute > 14 && minute <= 16 ? { process: { startLatency: [[80, 10_000]] } } : {}))).toEqual([
      "start p99, due to handler",
    ]);
  });

  it("claims, when nothing was started in a minute", () => {
    expect(missedBy((minute) => (minute > 14 && minute <= 16 ? { server: { startLatency: [] } } : {}))).toContain(
      "start p99, due to claimed",
    );
  });

  it.each([
    ["heap", "heap is flat", 14 * mebibyte, 0.15 * mebibyte],
    ["external", "external is flat", 3 * mebibyte, 0.15 * mebibyte],
    ["rss", "rss is flat", 80 * mebibyte, 1.5 * mebibyte],
  ])("%s, when it grows by a little every minute", (what, name, start, perMinute) => {
    expect(missedBy((minute) => ({ process: { [what]: start + perMinute * minute } }))).toEqual([name]);
  });

  it("handles, when one more stays every minute", () => {
    expect(missedBy((minute) => ({ process: { held: { "active Timeout": 10 + minute } } }))).toEqual([
      "handles and listeners do not pile up",
    ]);
  });

  it("listeners, when one more stays every minute", () => {
    expect(missedBy((minute) => ({ process: { held: { "listeners of the pool": 2 + Math.round(minute) } } }))).toEqual([
      "handles and listeners do not pile up",
    ]);
  });

  it("sessions on the server, when their caches grow", () => {
    expect(missedBy((minute) => ({ server: { backends: { "soak worker 1": 4 * mebibyte * (1 + minute / 10) } } }))).toEqual([
      "memory of the server's sessions is flat",
    ]);
  });

  it("jobs table, when rows stay in it", () => {
    expect(missedBy((minute) => ({ table: { liveRows: 500 * minute } }))).toEqual(["tables other than the archive keep their size"]);
  });

  it("jobs table, when its file grows without a snapshot", () => {
    expect(missedBy((minute) => ({ table: { bytes: 50e6 + 3 * mebibyte * minute } }))).toEqual([
      "tables other than the archive keep their size",
    ]);
  });

  it("dead rows, when they stay for longer than a minute after the release", () => {
    expect(missedBy((minute) => (minute > 10 && minute < 21.5 ? { table: { deadRows: 1_500_000 } } : {}))).toEqual([
      "dead rows are back to normal a minute after the release",
    ]);
  });

  it("troubles, be it one warning", () => {
    expect(missedBy((minute) => (minute === 5 ? { troubles: ["worker 1: MaxListenersExceededWarning: 11 error listeners"] } : {}))).toEqual(
      ["nothing goes wrong"],
    );
  });
});

describe("the account of a run", () => {
  it.each([
    ["one job is lost", { enqueued: 1_000, found: 999 }],
    ["one is there twice", { enqueued: 1_000, found: 1_001 }],
    ["nothing was enqueued", { enqueued: 0, found: 0 }],
  ])("is missed when %s", (_what, account) => {
    const verdicts = judgeRun({ ...aRecording(), account });
    expect(verdicts.filter(({ outcome }) => outcome === "missed").map(({ name }) => name)).toEqual(["every job is accounted for"]);
  });
});

describe("what is no fault", () => {
  it("is a jobs table that grew while a snapshot was held", () => {
    expect(missedBy((minute) => ({ table: { bytes: 50e6 * (1 + Math.min(10, Math.max(0, minute - 10))) } }))).toEqual([]);
  });

  it("is a peak of memory that went away", () => {
    expect(missedBy((minute) => (minute > 27 && minute < 28 ? { process: { heap: 60e6 } } : {}))).toEqual([]);
  });
});
