/** A sentence above the page about what was just done. */
export interface Notice {
  readonly tone: "good" | "bad";
  readonly text: string;
}

/**
 * The notice that a redirect asked for. The address says only which sentence, and a number: what a link from elsewhere puts
 * there is never shown.
 */
export function noticeOf(query: Record<string, string>): Notice | undefined {
  const { placed, redriven, depot } = query;
  if (placed !== undefined && /^S-\d{1,12}$/.test(placed)) {
    return { tone: "good", text: `Order ${placed} and its three jobs were written in one transaction.` };
  }
  if (redriven !== undefined && /^\d{1,9}$/.test(redriven)) {
    return {
      tone: "good",
      text: redriven === "0" ? "There are no dead jobs to redrive." : `Returned to the queue: ${redriven} of the dead.`,
    };
  }
  if (depot === "opened") return { tone: "good", text: "The depot is open. Redrive the dead, and what waits for it is shipped." };
  if (depot === "closed") return { tone: "good", text: "The depot is closed: what is to be shipped from there will fail." };
  return undefined;
}
