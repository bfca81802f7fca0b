import { describe, expect, test } from "vitest";
import type { ClaimAnswer, ClaimedRow, ClaimGroup } from "@queue/core/internal";
import { aRow } from "../../test/support/claim-rows.js";
import { type LineGroup, Lines } from "./lines.js";

const noCeilings = new Map<string, number>();
const plenty = () => 100;

function shape(groups: readonly ClaimGroup[]) {
  return groups.map(({ take, lines }) => ({ take, lines: lines.map(({ lane, priority }) => `${priority} ${lane}`) }));
}

describe("Lines.groups", () => {
  test("puts lines in the order of their priorities, from the beginning of each", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], undefined, noCeilings);
    lines.add({ lane: "b", priority: 9 });
    lines.add({ lane: "c", priority: 0 });
    const [group] = lines.groups(plenty, 7, 0);
    expect(group).toMatchObject({
      ceilingOf: undefined,
      take: 7,
      lines: [
        { lane: "c", priority: 0, since: null, since_id: "0" },
        { lane: "a", priority: 5, since: null, since_id: "0" },
        { lane: "b", priority: 9, since: null, since_id: "0" },
      ],
    });
  });

  test("lets another of the lanes of one priority be the first each time", () => {
    const lines = new Lines(
      ["a", "b", "c"].map((lane) => ({ lane, priority: 5 })),
      undefined,
      noCeilings,
    );
    lines.add({ lane: "urgent", priority: 0 });
    const turns = Array.from({ length: 6 }, () => lines.groups(plenty, 1, 0).flatMap((group) => group.lines.map(({ lane }) => lane)));
    expect(turns.map(([first]) => first)).toEqual(Array.from({ length: 6 }, () => "urgent"));
    for (const lane of ["a", "b", "c"]) expect(turns.filter((turn) => turn[1] === lane)).toHaveLength(2);
    expect(turns.every((turn) => turn.length === 4)).toBe(true);
  });

  test("gives each lane with a ceiling a group of its own, and all others one together", () => {
    const lines = new Lines(
      ["mail", "a", "video", "b"].map((lane) => ({ lane, priority: 5 })),
      undefined,
      new Map([
        ["mail", 2],
        ["video", 1],
      ]),
    );
    lines.add({ lane: "mail", priority: 1 });
    const ceilings = lines.groups(plenty, 6, 0).map(({ ceilingOf }) => ceilingOf ?? "none");
    expect(ceilings.toSorted()).toEqual(["mail", "none", "video"]);
    const groups = shape(lines.groups((lane) => (lane === "mail" ? 2 : 0), 6, 0));
    expect(groups).toHaveLength(3);
    expect(groups).toContainEqual({ take: 2, lines: ["1 mail", "5 mail"] });
    // Full: there is nothing to claim, but it may have jobs.
    expect(groups).toContainEqual({ take: 0, lines: ["5 video"] });
    expect(groups.find(({ take }) => take === 6)?.lines.toSorted()).toEqual(["5 a", "5 b"]);
  });

  test("has no group without lines", () => {
    expect(new Lines([], undefined, noCeilings).groups(plenty, 1, 0)).toEqual([]);
  });
});

describe("Lines", () => {
  test("takes no note of a lane that is not served", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], new Set(["a"]), noCeilings);
    lines.add({ lane: "b", priority: 5 });
    lines.replace([
      { lane: "b", priority: 5 },
      { lane: "a", priority: 1 },
    ]);
    expect(shape(lines.groups(plenty, 1, 0))).toEqual([{ take: 1, lines: ["1 a", "5 a"] }]);
    expect([lines.isServed("a"), lines.isServed("b")]).toEqual([true, false]);
  });

  test("keeps what it has from the start, and forgets what a look does not find any more", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], undefined, noCeilings);
    lines.replace([{ lane: "b", priority: 5 }]);
    lines.replace([{ lane: "c", priority: 5 }]);
    expect(shape(lines.groups(plenty, 1, 0))[0]?.lines.toSorted()).toEqual(["5 a", "5 c"]);
  });

  test("keeps a line that it was told of over the next look, which may have begun before, and over no more", () => {
    const lines = new Lines([], undefined, noCeilings);
    lines.add({ lane: "told", priority: 5 });
    lines.replace([]);
    expect(shape(lines.groups(plenty, 1, 0))).toEqual([{ take: 1, lines: ["5 told"] }]);
    lines.replace([]);
    expect(lines.groups(plenty, 1, 0)).toEqual([]);
  });

  test("tells lanes apart whose names look like its own notation", () => {
    const lines = new Lines([], undefined, noCeilings);
    lines.add({ lane: "5 a", priority: 1 });
    lines.add({ lane: "a", priority: 5 });
    expect(shape(lines.groups(plenty, 1, 0))[0]?.lines).toEqual(["1 5 a", "5 a"]);
  });
});

/** When the tests begin, in milliseconds, by both clocks. */
const startMs = 1_000_000_000;
const startAt = String(startMs * 1_000);

function answered({ claimed = [], now = startAt, paused = [] }: Partial<ClaimAnswer> = {}): ClaimAnswer {
  return { claimed, now, paused, completed: [] };
}

/** Lines that were read to the end a moment ago, and looked at far below. */
function readLines(names: readonly string[], ceilings: ReadonlyMap<string, number> = noCeilings): Lines {
  const lines = new Lines(
    names.map((lane) => ({ lane, priority: 5 })),
    undefined,
    ceilings,
  );
  for (let round = 0; round < 2; round++) lines.answered(lines.groups(plenty, 100, startMs), answered(), 100);
  return lines;
}

/** Where the next claim begins in each lane: how many milliseconds below `startMs`, or the exact place. */
function begins(groups: readonly LineGroup[]): Record<string, number | string> {
  const all = groups.flatMap((group) => group.lines.map(({ lane, since, since_id }) => [lane, since, since_id] as const));
  return Object.fromEntries(
    all.map(([lane, since, id]) => {
      if (since === null) return [lane, "from the beginning"];
      return [lane, id === "0" ? startMs - Number(since) / 1_000 : `${since} ${id}`];
    }),
  );
}

const rowsIn = (lane: string, ...ids: number[]): ClaimedRow[] => ids.map((id) => aRow(String(id), { lane, run_at: String(id * 1_000) }));

describe("Lines.answered", () => {
  test("lets the next claim begin near the end of what was read to the end", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], undefined, noCeilings);
    const groups = lines.groups(plenty, 3, startMs);
    expect(begins(groups)).toEqual({ a: "from the beginning" });
    expect(lines.answered(groups, answered({ claimed: rowsIn("a", 1, 2) }), 3)).toEqual([]);
    expect(begins(lines.groups(plenty, 3, startMs))).toEqual({ a: 256_000 });
    expect(begins(lines.groups(plenty, 3, startMs))).toEqual({ a: 250 });
  });

  test("lets the next claim go on behind the last that a full one took, in whatever order they came back", () => {
    const lines = readLines(["a"]);
    const groups = lines.groups(plenty, 3, startMs);
    const claimed = [
      aRow("100", { lane: "a", run_at: "5" }),
      aRow("99", { lane: "a", run_at: "5" }),
      aRow("7", { lane: "a", run_at: "4" }),
    ];
    expect(lines.answered(groups, answered({ claimed }), 3)).toEqual(groups);
    expect(begins(lines.groups(plenty, 3, startMs))).toEqual({ a: "5 100" });
  });

  test("leaves a line alone that a full claim did not come to, and goes on behind what it took of the others", () => {
    const lines = readLines(["a", "b"]);
    lines.answered(lines.groups(plenty, 2, startMs), answered({ claimed: rowsIn("a", 1, 2), now: String((startMs + 100) * 1_000) }), 2);
    expect(begins(lines.groups(plenty, 2, startMs))).toEqual({ a: "2000 2", b: 250 });
  });

  test("lets a claim that did not come to a line be followed by one that looks as far below as it would have", () => {
    const lines = readLines(["a", "b"]);
    lines.lookFarBelow();
    lines.answered(lines.groups(plenty, 2, startMs), answered({ claimed: rowsIn("a", 1, 2) }), 2);
    expect(begins(lines.groups(plenty, 2, startMs))["b"]).toBe(256_000);
  });

  test("leaves a lane alone that was paused: what was enqueued in it meanwhile is below", () => {
    const lines = readLines(["a", "b"]);
    const groups = lines.groups(plenty, 10, startMs);
    lines.answered(groups, answered({ paused: ["a"], now: String((startMs + 600_000) * 1_000) }), 10);
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ a: 250, b: 250 - 600_000 });
  });

  test("begins in a lane that was paused from the start at the beginning", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], undefined, noCeilings);
    lines.answered(lines.groups(plenty, 10, startMs), answered({ paused: ["a"] }), 10);
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ a: "from the beginning" });
  });

  test("tells which lanes gave all that they may, and reads the others to their end", () => {
    const lines = readLines(["mail", "a"], new Map([["mail", 2]]));
    const groups = lines.groups(() => 2, 10, startMs);
    const full = lines.answered(groups, answered({ claimed: rowsIn("mail", 1, 2), now: String((startMs + 100) * 1_000) }), 10);
    expect(full.map(({ ceilingOf }) => ceilingOf)).toEqual(["mail"]);
    expect(begins(lines.groups(() => 2, 10, startMs))).toEqual({ mail: "2000 2", a: 250 - 100 });
  });

  test("counts all priorities of a lane for its ceiling", () => {
    const lines = readLines(["mail"], new Map([["mail", 2]]));
    lines.add({ lane: "mail", priority: 1 });
    const groups = lines.groups(() => 2, 10, startMs);
    const claimed = [aRow("1", { lane: "mail", priority: 1 }), aRow("2", { lane: "mail", priority: 5 })];
    expect(lines.answered(groups, answered({ claimed }), 10)).toHaveLength(1);
  });

  test("leaves the cursors of a lane alone that may take nothing, and says that it is full", () => {
    const lines = readLines(["mail"], new Map([["mail", 2]]));
    const groups = lines.groups(() => 0, 10, startMs + 300_000);
    const full = lines.answered(groups, answered({ now: String((startMs + 300_000) * 1_000) }), 10);
    expect(full.map(({ ceilingOf }) => ceilingOf)).toEqual(["mail"]);
    // Nor was it looked at: the look far below is still to come.
    expect(begins(lines.groups(() => 2, 10, startMs + 300_000))).toEqual({ mail: 256_000 });
  });

  test("begins where a notification said that a job is due, until that was read", () => {
    const lines = readLines(["a"]);
    const before = lines.groups(plenty, 10, startMs);
    lines.add({ lane: "a", priority: 5 }, (startMs - 3_600_000) * 1_000);
    lines.answered(before, answered({ now: String((startMs + 1) * 1_000) }), 10);
    const groups = lines.groups(plenty, 10, startMs);
    expect(begins(groups)["a"]).toBeGreaterThanOrEqual(3_600_000);
    lines.answered(groups, answered(), 10);
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ a: 250 });
  });

  test("keeps how far a line was read that a look does not find for a while", () => {
    const lines = readLines([]);
    lines.add({ lane: "comes and goes", priority: 1 });
    for (let round = 0; round < 2; round++) lines.answered(lines.groups(plenty, 10, startMs), answered(), 10);
    for (let looks = 0; looks < 2; looks++) lines.replace([]);
    expect(lines.groups(plenty, 10, startMs)).toEqual([]);
    lines.add({ lane: "comes and goes", priority: 1 });
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ "comes and goes": 250 });
  });

  test("forgets how far lines were read that are not there any more, when there are very many", () => {
    const lines = readLines(["stays"]);
    for (let n = 0; n < 10_500; n++) lines.add({ lane: `lane ${n}`, priority: 5 });
    for (let round = 0; round < 2; round++) lines.answered(lines.groups(plenty, 100, startMs), answered(), 100);
    for (let looks = 0; looks < 2; looks++) lines.replace([]);
    for (let n = 0; n < 10_500; n++) lines.add({ lane: `lane ${n}`, priority: 5 });
    const places = Object.values(begins(lines.groups(plenty, 100, startMs)));
    expect(places.filter((place) => place === 250)).toHaveLength(10_000);
    expect(places.filter((place) => place === "from the beginning")).toHaveLength(501);
    expect(begins(lines.groups(plenty, 100, startMs))["stays"]).toBe(250);
  });
});

describe("Lines.lookFarBelow and Lines.failed", () => {
  test("let the next claim go down the whole ladder, and begin anew, in all lines", () => {
    const lines = readLines(["a", "b"]);
    lines.lookFarBelow();
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ a: 256_000, b: 256_000 });
    lines.failed([]);
    expect(begins(lines.groups(plenty, 10, startMs))).toEqual({ a: "from the beginning", b: "from the beginning" });
  });
});

describe("Lines.behind", () => {
  test("tells what lies below all that claims look at, in the lines that were read", () => {
    const lines = readLines(["a"]);
    lines.add({ lane: "new", priority: 1 });
    expect(lines.behind()).toEqual([{ lane: "a", priority: 5, below: (startMs - 256_000) * 1_000 }]);
  });
});
