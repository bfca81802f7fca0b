import { jobLife, type JobState, type JobTransition } from "@queue/core/internal";
import { colours, type Point, round, svg, text } from "./svg.js";

const width = 860;
const height = 430;
const box = { width: 116, height: 46 };

/** Where the states stand, and what the reader should know of each. */
const places: Record<JobState, Point & { readonly note: string }> = {
  queued: { x: 230, y: 150, note: "waits for run_at" },
  running: { x: 520, y: 150, note: "held by a lease" },
  done: { x: 770, y: 150, note: "archived" },
  dead: { x: 520, y: 350, note: "kept, counted" },
  cancelled: { x: 230, y: 350, note: "archived" },
};

/** How far the middle of an arrow is pushed to its left, where two would lie on each other or on a label. */
const bends: Partial<Record<string, number>> = {
  "queued→running": -34,
  "running→queued": -34,
  "running→dead": -22,
  "dead→queued": 0,
  "running→cancelled": 0,
};
/** Where on its arrow a label stands, from 0 to 1, and by how much it is moved. */
const labels: Partial<
  Record<string, { readonly at: number; readonly dx: number; readonly dy: number; readonly anchor?: "start" | "end" }>
> = {
  "queued→running": { at: 0.5, dx: 0, dy: -8 },
  "running→queued": { at: 0.5, dx: 0, dy: 18 },
  "running→done": { at: 0.5, dx: 0, dy: -8 },
  "running→dead": { at: 0.5, dx: 14, dy: 0, anchor: "start" },
  "queued→cancelled": { at: 0.5, dx: -8, dy: 4, anchor: "end" },
  "dead→cancelled": { at: 0.5, dx: 0, dy: 18 },
  "dead→queued": { at: 0.72, dx: -34, dy: 12, anchor: "end" },
  "running→cancelled": { at: 0.8, dx: 12, dy: 12, anchor: "start" },
};

/** States and who moves a job between them, from the list that the tests hold against the statements. */
export function drawJobLife(): string {
  const arrows = groupBy(
    jobLife.filter((move): move is JobTransition & { from: JobState } => move.from !== undefined),
    ({ from, to }) => `${from}→${to}`,
  );
  return svg(width, height, "The life of a job: its states, and who moves it", [
    ...markers(),
    ...entry(),
    ...[...arrows].flatMap(([name, moves]) => drawArrow(name, moves)),
    ...Object.entries(places).flatMap(([state, place]) => drawState(state, place)),
    ...legend(),
  ]);
}

function drawState(state: string, { x, y, note }: (typeof places)[JobState]): string[] {
  const isEnd = note === "archived";
  return [
    `<rect x="${x - box.width / 2}" y="${y - box.height / 2}" width="${box.width}" height="${box.height}" rx="9" fill="${isEnd ? "#f5f7fa" : colours.paper}" stroke="${colours.ink}" stroke-width="1.5"${isEnd ? ' stroke-dasharray="5 3"' : ""}/>`,
    text({ x, y: y - 1 }, state, { size: 15, weight: 600 }),
    text({ x, y: y + 15 }, note, { size: 11, fill: "#616e7c" }),
  ];
}

function entry(): string[] {
  const { x, y } = places.queued;
  const end = x - box.width / 2;
  return [
    `<path d="M ${end - 110} ${y} L ${end - 3} ${y}" stroke="${colours.producer}" stroke-width="1.8" fill="none" marker-end="url(#producer)"/>`,
    text({ x: end - 58, y: y - 22 }, "enqueue,", { fill: colours.producer }),
    text({ x: end - 58, y: y - 8 }, "in your commit", { fill: colours.producer }),
  ];
}

function drawArrow(name: string, moves: readonly (JobTransition & { from: JobState })[]): string[] {
  const [first] = moves;
  if (first === undefined) return [];
  const bend = bends[name] ?? 0;
  const [from, to] = [places[first.from], places[first.to]];
  const middle = bent(from, to, bend);
  const [start, end] = [edgeOf(from, middle), edgeOf(to, middle)];
  const colour = colours[first.who];
  const label = labels[name] ?? { at: 0.5, dx: 0, dy: 0 };
  const at = onCurve(start, middle, end, label.at);
  return [
    `<path d="M ${round(start.x)} ${round(start.y)} Q ${round(middle.x)} ${round(middle.y)} ${round(end.x)} ${round(end.y)}" stroke="${colour}" stroke-width="1.8" fill="none" marker-end="url(#${first.who})"/>`,
    ...[...groupBy(moves, ({ who }) => who)].map(([who, ofOne], line) =>
      text({ x: at.x + label.dx, y: at.y + label.dy + line * 15 }, ofOne.map(({ what }) => what).join(", "), {
        fill: colours[who as JobTransition["who"]],
        anchor: label.anchor ?? "middle",
      }),
    ),
  ];
}

function bent(from: Point, to: Point, by: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  return {
    x: (from.x + to.x) / 2 - ((to.y - from.y) / length) * -by,
    y: (from.y + to.y) / 2 + ((to.x - from.x) / length) * by,
  };
}

/** Where the line from the middle of a box towards `target` leaves it. */
function edgeOf(place: Point, target: Point): Point {
  const [dx, dy] = [target.x - place.x, target.y - place.y];
  const gap = 4;
  const scale = Math.min((box.width / 2 + gap) / Math.abs(dx || 1e-9), (box.height / 2 + gap) / Math.abs(dy || 1e-9));
  return { x: place.x + dx * scale, y: place.y + dy * scale };
}

function onCurve(start: Point, middle: Point, end: Point, t: number): Point {
  const along = (a: number, b: number, c: number) => (1 - t) ** 2 * a + 2 * (1 - t) * t * b + t ** 2 * c;
  return { x: along(start.x, middle.x, end.x), y: along(start.y, middle.y, end.y) };
}

function markers(): string[] {
  return (["producer", "worker", "sweep", "operator"] as const).map(
    (who) =>
      `<marker id="${who}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M 0 0 L 10 5 L 0 10 z" fill="${colours[who]}"/></marker>`,
  );
}

function legend(): string[] {
  const who = ["producer", "worker", "sweep", "operator"] as const;
  const notes = {
    producer: "your transaction",
    worker: "the worker that has it",
    sweep: "any worker's sweep",
    operator: "a person, or your code",
  };
  return [
    text({ x: 24, y: 34 }, "Who moves it", { anchor: "start", weight: 600 }),
    ...who.map((one, index) => text({ x: 140 + index * 178, y: 34 }, `● ${notes[one]}`, { fill: colours[one], anchor: "start" })),
  ];
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
