import { type About, aboutLines } from "../machine/about.js";
import { showFigure } from "./show-figure.js";
import { colours, line, lineColours, picture, polyline, text, wrap } from "./svg.js";

export interface LinePanel {
  readonly title: string;
  readonly unit: string;
  readonly lines: readonly { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] }[];
}

export interface LineChart {
  readonly title: string;
  readonly detail: string;
  /** What grows along the axis, which is logarithmic. */
  readonly x: string;
  readonly panels: readonly LinePanel[];
}

const width = 860;
const margin = 20;
const axisWidth = 60;
const plotWidth = 620;
const plotHeight = 130;
const lineHeight = 16;

/** A panel under another, on one axis. The vertical axes begin at zero. */
export function lineChart({ title, detail, x, panels }: LineChart, about: About): string {
  let y = margin + 12;
  const parts = [text(margin, y, title, { size: 16, weight: "bold" })];
  for (const part of wrap(detail, 125)) parts.push(text(margin, (y += lineHeight), part, { fill: colours.faint }));
  for (const panel of panels) {
    y += 30;
    parts.push(text(margin, y, `${panel.title}, ${panel.unit}`, { weight: "bold" }), ...drawPanel(panel, y + 12));
    y += plotHeight + 30;
  }
  parts.push(text(margin + axisWidth + plotWidth, (y += 16), x, { anchor: "end", fill: colours.faint }));
  y += 8;
  for (const part of aboutLines(about).flatMap((whole) => wrap(whole, 140))) {
    parts.push(text(margin, (y += lineHeight - 2), part, { size: 10, fill: colours.faint }));
  }
  return picture(width, y + margin, title, parts);
}

function drawPanel({ lines }: LinePanel, top: number): readonly string[] {
  const points = lines.flatMap((drawn) => drawn.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const most = Math.max(...points.map(([, y]) => y), Number.MIN_VALUE) * 1.05;
  const [from, to] = [Math.log10(xs[0] ?? 1), Math.log10(xs.at(-1) ?? 10)];
  const left = margin + axisWidth;
  const atX = (x: number) => left + (to === from ? 0.5 : (Math.log10(x) - from) / (to - from)) * plotWidth;
  const atY = (y: number) => top + plotHeight - (y / most) * plotHeight;
  const parts: string[] = [];
  for (const share of [0, 0.5, 1]) {
    const y = atY(most * share);
    parts.push(
      line(left, y, left + plotWidth, y, colours.line),
      text(left - 6, y + 4, showFigure(most * share), { anchor: "end", size: 10 }),
    );
  }
  for (const x of xs) parts.push(text(atX(x), top + plotHeight + 14, x.toLocaleString("en-US"), { anchor: "middle", size: 10 }));
  lines.forEach(({ name, points: drawn }, index) => {
    const stroke = lineColours[index % lineColours.length] ?? colours.ours;
    const last = drawn.at(-1);
    parts.push(
      polyline(
        drawn.map(([x, y]) => [atX(x), atY(y)] as const),
        stroke,
      ),
    );
    if (last !== undefined) parts.push(text(left + plotWidth + 10, atY(last[1]) + 4, name, { fill: stroke, size: 11 }));
  });
  return parts;
}
