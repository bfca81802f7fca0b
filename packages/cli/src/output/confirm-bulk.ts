import { confirm, isCancel } from "@clack/prompts";
import type { Output } from "./output.js";
import { UsageError } from "./usage-error.js";

/**
 * Asks before something is done to many jobs. Where nobody can be asked, `--yes` has to be said.
 *
 * @returns whether it may be done
 * @throws UsageError where nobody can be asked and `isYes` is not set
 */
export async function confirmBulk(output: Output, question: string, isYes: boolean): Promise<boolean> {
  if (isYes) return true;
  if (!output.isInteractive || !process.stdin.isTTY) {
    throw new UsageError(`${question} Nobody can be asked here: add --yes to do it, or --dry-run to see what would be done.`);
  }
  const answer = await confirm({ message: question, initialValue: false });
  return !isCancel(answer) && answer;
}
