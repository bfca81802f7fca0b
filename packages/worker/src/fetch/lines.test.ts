import { describe, expect, test } from "vitest";
import type { ClaimGroup } from "@queue/core/internal";
import { Lines } from "./lines.js";

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
    const [group] = lines.groups(plenty, 7);
    expect(group).toEqual({
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
    const turns = Array.from({ length: 6 }, () => lines.groups(plenty, 1).flatMap((group) => group.lines.map(({ lane }) => lane)));
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
    const groups = shape(lines.groups((lane) => (lane === "mail" ? 2 : 0), 6));
    expect(groups).toHaveLength(3);
    expect(groups).toContainEqual({ take: 2, lines: ["1 mail", "5 mail"] });
    // Full: there is nothing to claim, but it may have jobs.
    expect(groups).toContainEqual({ take: 0, lines: ["5 video"] });
    expect(groups.find(({ take }) => take === 6)?.lines.toSorted()).toEqual(["5 a", "5 b"]);
  });

  test("has no group without lines", () => {
    expect(new Lines([], undefined, noCeilings).groups(plenty, 1)).toEqual([]);
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
    expect(shape(lines.groups(plenty, 1))).toEqual([{ take: 1, lines: ["1 a", "5 a"] }]);
    expect([lines.isServed("a"), lines.isServed("b")]).toEqual([true, false]);
  });

  test("keeps what it has from the start, and forgets what a look does not find any more", () => {
    const lines = new Lines([{ lane: "a", priority: 5 }], undefined, noCeilings);
    lines.replace([{ lane: "b", priority: 5 }]);
    lines.replace([{ lane: "c", priority: 5 }]);
    expect(shape(lines.groups(plenty, 1))[0]?.lines.toSorted()).toEqual(["5 a", "5 c"]);
  });

  test("keeps a line that it was told of over the next look, which may have begun before, and over no more", () => {
    const lines = new Lines([], undefined, noCeilings);
    lines.add({ lane: "told", priority: 5 });
    lines.replace([]);
    expect(shape(lines.groups(plenty, 1))).toEqual([{ take: 1, lines: ["5 told"] }]);
    lines.replace([]);
    expect(lines.groups(plenty, 1)).toEqual([]);
  });

  test("tells lanes apart whose names look like its own notation", () => {
    const lines = new Lines([], undefined, noCeilings);
    lines.add({ lane: "5 a", priority: 1 });
    lines.add({ lane: "a", priority: 5 });
    expect(shape(lines.groups(plenty, 1))[0]?.lines).toEqual(["1 5 a", "5 a"]);
  });
});
