import { describe, expect, it } from "vitest";
import { latencyQuantile, match } from "./latencies.js";

describe("latencies", () => {
  it("pair each call with the start of its job", () => {
    const latencies = match(
      [100, 200],
      [
        { id: 1, at: 207 },
        { id: 0, at: 103 },
      ],
    );
    expect(latencies).toEqual([
      { ms: 3, isOver: true },
      { ms: 7, isOver: true },
    ]);
  });

  it("count a job that never started as one that waits still, after all others", () => {
    const [started, waiting] = match([100, 200], [{ id: 0, at: 150 }]);
    expect(started).toEqual({ ms: 50, isOver: true });
    expect(waiting?.isOver).toBe(false);
    const latencies = [
      { ms: 5, isOver: false },
      { ms: 50, isOver: true },
    ];
    expect(latencyQuantile(latencies, 0)).toBe(50);
    expect(latencyQuantile(latencies, 0.99)).toEqual({ atLeast: 5 });
  });
});
