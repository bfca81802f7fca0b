/** What a judge says of a run. */
export interface Verdict {
  readonly name: string;
  /** `short`: the run was too short to tell, which is no miss. */
  readonly outcome: "held" | "missed" | "short";
  /** The figure beside its bar. */
  readonly detail: string;
}

export function verdict(name: string, isHeld: boolean, detail: string): Verdict {
  return { name, outcome: isHeld ? "held" : "missed", detail };
}

export function tooShort(name: string, detail: string): Verdict {
  return { name, outcome: "short", detail };
}
