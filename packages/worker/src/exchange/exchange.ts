import {
  type ClaimAnswer,
  type ClaimJobsInput,
  type CompleteJobsInput,
  readClaimAnswer,
  type WorkerStatements,
} from "@queue/core/internal";
import type { Database } from "../database/database.js";
import { soon } from "../time/soon.js";

export type Completions = Omit<CompleteJobsInput, "worker">;
export type Claim = Omit<ClaimJobsInput, "worker">;

/** A part of a statement, and who waits for its answer. */
export interface Sending<TInput, TAnswer> {
  readonly input: TInput;
  readonly onAnswer: (answer: TAnswer) => void;
  readonly onError: (error: unknown) => void;
}

export interface ClaimSending extends Sending<Claim, ClaimAnswer> {
  /** The answer came after it had been given up. */
  readonly onLate: () => void;
}

/** Answered by the ids that were recorded. */
export type CompletionsSending = Sending<Completions, readonly string[]>;

export interface ExchangeOptions {
  readonly database: Database;
  readonly statements: Pick<WorkerStatements, "claimJobs" | "completeJobs" | "completeAndClaim">;
  readonly worker: string;
  /** What is to be sent now, asked for at the moment of sending. */
  readonly takeCompletions: () => CompletionsSending | undefined;
  readonly takeClaim: () => ClaimSending | undefined;
}

/**
 * So many statements on their way: while the database works at one, this process works at the answer of the other (45 k jobs/s
 * one after the other, 58 k with two, measured on two cores).
 */
const mostUnderWay = 2;

/**
 * Sends outcomes and claims, both in one statement when there are both: one commit for a batch of completions and the next
 * claim (45 against 32 k jobs/s on one connection). No timer: what comes while statements are under way gathers for the next.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  #underWay = 0;
  #isRung = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** There is something to send. */
  ring(): void {
    if (this.#isRung) return;
    this.#isRung = true;
    soon(() => {
      this.#isRung = false;
      this.#send();
    });
  }

  #send(): void {
    const { database, takeCompletions, takeClaim } = this.#options;
    const most = database.hasOneConnection ? 1 : mostUnderWay;
    while (this.#underWay < most) {
      const completions = takeCompletions();
      const claim = takeClaim();
      if (completions === undefined && claim === undefined) return;
      this.#underWay += 1;
      void this.#exchange(completions, claim);
    }
  }

  async #exchange(completions: CompletionsSending | undefined, claim: ClaimSending | undefined): Promise<void> {
    let answer: ClaimAnswer;
    try {
      answer = await this.#run(completions, claim);
    } catch (error) {
      this.#underWay -= 1;
      completions?.onError(error);
      claim?.onError(error);
      return this.ring();
    }
    this.#underWay -= 1;
    completions?.onAnswer(answer.completed);
    claim?.onAnswer(answer);
    this.ring();
  }

  async #run(completions: CompletionsSending | undefined, claim: ClaimSending | undefined): Promise<ClaimAnswer> {
    const { database, statements, worker } = this.#options;
    if (claim === undefined) {
      const rows = completions === undefined ? [] : await database.run(statements.completeJobs, { ...completions.input, worker });
      return { claimed: [], completed: rows.map(({ id }) => id), now: "0", paused: [] };
    }
    const input = { ...claim.input, worker };
    return readClaimAnswer(
      completions === undefined
        ? await database.run(statements.claimJobs, input, claim.onLate)
        : await database.run(statements.completeAndClaim, { ...completions.input, ...input }, claim.onLate),
    );
  }
}
