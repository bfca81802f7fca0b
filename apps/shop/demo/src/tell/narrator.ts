import type { WorkerEvent } from "@queue/worker";
import type { PostedOrder } from "../post-order.js";
import type { Paint, Tone } from "./paint.js";
import { eventSentence, isTold, orderSentence, type Sentence, type Topic } from "./sentence.js";

const toneOf: Readonly<Record<Topic, Tone | undefined>> = {
  placed: undefined,
  refused: "yellow",
  receipt: "green",
  warehouse: "green",
  review: "green",
  recovered: "green",
  failed: "yellow",
  dead: "red",
};

export interface NarratorOptions {
  readonly print: (line: string) => void;
  readonly paint: Paint;
  /** Told each time, in short; of all other topics only the first is told. */
  readonly toldAlways: ReadonlySet<Topic>;
  /** The order that a job is about. */
  readonly orderOf: (jobId: string) => Promise<string>;
}

/** Tells what happens in the shop, a line each, in the order in which it happened. */
export class Narrator {
  readonly #options: NarratorOptions;
  readonly #told = new Set<Topic>();
  readonly #startedAtMs = performance.now();
  #last: Promise<void> = Promise.resolve();

  constructor(options: NarratorOptions) {
    this.#options = options;
  }

  /** An order that is under way: its jobs may be done before its answer is here, but are told of after it. */
  async order(posting: Promise<PostedOrder>): Promise<PostedOrder> {
    const atMs = performance.now();
    this.#next(async () => this.#say(orderSentence(await posting), atMs));
    return posting;
  }

  /** An event names the job, and not the order that it is about: that is looked up. */
  event(event: WorkerEvent): void {
    if (!isTold(event)) return;
    const atMs = performance.now();
    this.#next(async () => {
      if (!this.#isNews(eventSentence(event, "").topic)) return;
      this.#say(eventSentence(event, await this.#options.orderOf(event.id)), atMs);
    });
  }

  /** Resolves when everything is told. */
  async silence(): Promise<void> {
    await this.#last;
  }

  /** One after the other. What cannot be told, because its order or its look-up failed, is left out: the failure is told elsewhere. */
  #next(tell: () => Promise<void>): void {
    this.#last = this.#last.then(tell).catch(() => {});
  }

  #isNews(topic: Topic): boolean {
    return !this.#told.has(topic) || this.#options.toldAlways.has(topic);
  }

  #say({ topic, text, short }: Sentence, atMs: number): void {
    if (!this.#isNews(topic)) return;
    const { print, paint } = this.#options;
    const words = this.#told.has(topic) ? short : text;
    this.#told.add(topic);
    const tone = toneOf[topic];
    const seconds = ((atMs - this.#startedAtMs) / 1_000).toFixed(1).padStart(6);
    print(`${paint("dim", `${seconds} s`)}  ${tone === undefined ? words : paint(tone, words)}`);
  }
}
