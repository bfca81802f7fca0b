import type { Mutant } from "./mutant.js";
import type { Verdict } from "./judge-mutant.js";

/** A mutant, and what became of it. */
export interface Row {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  readonly seconds: number;
}

export const tableHead = "| mutant | what it breaks | killed by | seconds |\n|---|---|---|---:|";

/** One line of a Markdown table. */
export function tableLine({ mutant, verdict, seconds }: Row): string {
  const cells = [mutant.name, mutant.breaks, describe(verdict), seconds.toFixed(1)];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |`;
}

const mostNames = 3;

function describe(verdict: Verdict): string {
  switch (verdict.type) {
    case "killed":
      return `${verdict.by.length}: ${verdict.by.slice(0, mostNames).join("; ")}${verdict.by.length > mostNames ? "; …" : ""}`;
    case "survived":
      return "**SURVIVED**";
    case "unproved":
      return `**UNPROVED** ${verdict.why}`;
  }
}

/** The last line. */
export function summary(rows: readonly Row[], seconds: number): string {
  const count = (type: Verdict["type"]) => rows.filter(({ verdict }) => verdict.type === type).length;
  return `${rows.length} mutants: ${count("killed")} killed, ${count("survived")} survived, ${count("unproved")} unproved; ${seconds.toFixed(0)} s`;
}
