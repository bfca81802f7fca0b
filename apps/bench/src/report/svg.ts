/** Colours that hold on white and for most who do not see all colours: ours stands out, the others are told by their names. */
export const colours = { ours: "#1f6feb", other: "#9aa4b2", bar: "#d1242f", text: "#1f2328", faint: "#59636e", line: "#d8dee4" } as const;
export const lineColours = ["#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df"] as const;

interface TextOptions {
  readonly size?: number;
  readonly fill?: string;
  readonly anchor?: "start" | "middle" | "end";
  readonly weight?: "bold";
}

export function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { size = 12, fill = colours.text, anchor = "start", weight } = options;
  const bold = weight === undefined ? "" : ` font-weight="${weight}"`;
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" fill="${fill}" text-anchor="${anchor}"${bold}>${escape(content)}</text>`;
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke: string, dashes = ""): string {
  const dashed = dashes === "" ? "" : ` stroke-dasharray="${dashes}"`;
  return `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${stroke}"${dashed}/>`;
}

export function rectangle(x: number, y: number, width: number, height: number, fill: string): string {
  return `<rect x="${round(x)}" y="${round(y)}" width="${round(Math.max(width, 0))}" height="${round(height)}" fill="${fill}"/>`;
}

export function polyline(points: readonly (readonly [number, number])[], stroke: string): string {
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
  const dots = points.map(([x, y]) => `<circle cx="${round(x)}" cy="${round(y)}" r="3" fill="${stroke}"/>`).join("");
  return `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="2"/>${dots}`;
}

export function picture(width: number, height: number, title: string, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${Math.ceil(height)}" width="${width}" height="${Math.ceil(height)}" role="img" font-family="system-ui, sans-serif">`,
    `<title>${escape(title)}</title>`,
    rectangle(0, 0, width, Math.ceil(height), "#ffffff"),
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}

/** Breaks a text into lines of so many characters at most, between words. */
export function wrap(content: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (const word of content.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
