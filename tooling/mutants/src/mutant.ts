/** A build that is broken on purpose: one text of one source file is another one. */
export interface Mutant {
  /** In words of the glossary, with hyphens. */
  readonly name: string;
  /** The sentence about the product that is no longer true. */
  readonly breaks: string;
  /** From the root of the repository: `packages/core/src/store/claim-jobs.ts`. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The test files, or folders of them, that must notice. They read sources, not builds. */
  readonly killers: readonly string[];
  /** Only the killers' tests whose full name matches this regular expression: of long files, the few that count. */
  readonly tests?: string;
  /**
   * What it breaks makes something wait for ever, so a test that runs out of its time has noticed. Of every other mutant that
   * is no proof.
   */
  readonly isWaiting?: boolean;
}
