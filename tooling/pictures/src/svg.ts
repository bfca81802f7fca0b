/** The colours of all pictures, readable on white, which every picture brings along. */
export const colours = {
  paper: "#ffffff",
  ink: "#1f2933",
  faint: "#9aa5b1",
  rule: "#e4e7eb",
  producer: "#2f855a",
  worker: "#2b6cb0",
  sweep: "#b7791f",
  operator: "#805ad5",
} as const;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A whole picture. */
export function svg(width: number, height: number, title: string, body: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">`,
    `<title>${escape(title)}</title>`,
    `<rect width="${width}" height="${height}" fill="${colours.paper}"/>`,
    ...body,
    "</svg>",
    "",
  ].join("\n");
}

export interface TextOptions {
  readonly fill?: string;
  readonly anchor?: "start" | "middle" | "end";
  readonly size?: number;
  readonly weight?: number;
}

export function text(
  { x, y }: Point,
  content: string,
  { fill = colours.ink, anchor = "middle", size = 13, weight = 400 }: TextOptions = {},
): string {
  return `<text x="${round(x)}" y="${round(y)}" fill="${fill}" text-anchor="${anchor}" font-size="${size}" font-weight="${weight}">${escape(content)}</text>`;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
