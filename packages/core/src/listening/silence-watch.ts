/** How long the server may take to answer. */
const answerTimeoutMs = 5_000;

export interface SilenceWatchOptions {
  /** How long the server may be silent before it is asked. */
  readonly keepAliveMs: number;
  /** Asks for a sign of life. Whatever comes back has to be told by `heard`. */
  readonly ask: () => void;
  /** There was no answer in time. */
  readonly onSilence: (error: Error) => void;
}

/** Finds out a flow that was dropped on the way, which says nothing for a quarter of an hour. */
export class SilenceWatch {
  readonly #options: SilenceWatchOptions;
  #keepAlive: NodeJS.Timeout | undefined;
  #answer: NodeJS.Timeout | undefined;

  constructor(options: SilenceWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#keepAlive = setTimeout(() => this.#ask(), this.#options.keepAliveMs);
  }

  /** The server has said something. */
  heard(): void {
    clearTimeout(this.#answer);
    this.#answer = undefined;
    this.#keepAlive?.refresh();
  }

  stop(): void {
    clearTimeout(this.#keepAlive);
    clearTimeout(this.#answer);
    this.#keepAlive = undefined;
    this.#answer = undefined;
  }

  #ask(): void {
    this.#answer = setTimeout(() => {
      // A process that was busy for long finds the timer due before it has read its sockets: let it read them first.
      setImmediate(() => {
        if (this.#answer !== undefined)
          this.#options.onSilence(
            new Error(`The server has been silent for too long: no answer to "select 1" within ${answerTimeoutMs} ms.`),
          );
      });
    }, answerTimeoutMs);
    this.#options.ask();
  }
}
