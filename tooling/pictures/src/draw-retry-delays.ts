import { backoffCeilingMs, backoffDelayMs, defaultBackoff } from "@queue/core/internal";
import { seededRandom } from "./seeded-random.js";
import { colours, round, svg, text } from "./svg.js";

const width = 860;
const height = 380;
const plot = { left: 64, right: 836, top: 40, bottom: 330 };
const attempts = 10;
const samples = 60;
const topSeconds = 320;

/** Delays drawn by the worker's own function, under the ceiling that they are drawn below. */
export function drawRetryDelays(): string {
  const random = seededRandom(2_024);
  const dots = Array.from({ length: attempts }, (_, index) =>
    Array.from({ length: samples }, () => {
      const x = plot.left + (index + 0.1 + random() * 0.8) * column;
      return `<circle cx="${round(x)}" cy="${round(yOf(backoffDelayMs(index + 1, defaultBackoff, random) / 1_000))}" r="2.2" fill="${colours.worker}" fill-opacity="0.55"/>`;
    }),
  );
  return svg(width, height, "Retry delays: full jitter under an exponential ceiling", [
    ...axes(),
    ...dots.flat(),
    `<path d="${ceiling()}" fill="none" stroke="${colours.ink}" stroke-width="2"/>`,
    text({ x: plot.left + 8, y: 24 }, "Delay after a failed attempt: uniform below min(5 min, 2 s · 2^(attempt − 1))", {
      anchor: "start",
      weight: 600,
    }),
  ]);
}

const column = (plot.right - plot.left) / attempts;

function yOf(seconds: number): number {
  return plot.bottom - (seconds / topSeconds) * (plot.bottom - plot.top);
}

function ceiling(): string {
  return Array.from({ length: attempts }, (_, index) => {
    const y = round(yOf(backoffCeilingMs(index + 1) / 1_000));
    return `${index === 0 ? "M" : "L"} ${round(plot.left + index * column)} ${y} L ${round(plot.left + (index + 1) * column)} ${y}`;
  }).join(" ");
}

function axes(): string[] {
  return [
    ...[0, 60, 120, 180, 240, 300].flatMap((seconds) => [
      `<line x1="${plot.left}" x2="${plot.right}" y1="${round(yOf(seconds))}" y2="${round(yOf(seconds))}" stroke="${colours.rule}"/>`,
      text({ x: plot.left - 8, y: yOf(seconds) + 4 }, `${seconds} s`, { anchor: "end", fill: "#616e7c", size: 12 }),
    ]),
    ...Array.from({ length: attempts }, (_, index) =>
      text({ x: plot.left + (index + 0.5) * column, y: plot.bottom + 20 }, `after ${index + 1}`, { fill: "#616e7c", size: 12 }),
    ),
    text(
      { x: (plot.left + plot.right) / 2, y: plot.bottom + 40 },
      "eight attempts by default: seven delays, 127 s in the mean, 254 s at most",
      { fill: "#616e7c", size: 12 },
    ),
  ];
}
