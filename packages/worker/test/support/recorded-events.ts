import type { WorkerEvent } from "@queue/worker";
import { withDeadline } from "./with-deadline.js";

type EventType = WorkerEvent["type"];
type EventOf<TType extends EventType> = Extract<WorkerEvent, { readonly type: TType }>;

/** What a worker told by `onEvent`, with a way to wait for it. */
export interface RecordedEvents {
  readonly onEvent: (event: WorkerEvent) => void;
  readonly all: readonly WorkerEvent[];
  of<TType extends EventType>(type: TType): EventOf<TType>[];
  /** The types of the events about a job, in order. */
  typesFor(id: string): EventType[];
  /** Resolves to the `count`-th event of the type; rejects when it does not come in time. */
  until<TType extends EventType>(type: TType, count?: number, ms?: number): Promise<EventOf<TType>>;
  /** Resolves when an event about the job is of the type. */
  untilFor<TType extends EventType>(id: string, type: TType): Promise<EventOf<TType>>;
}

export function recordEvents(alsoTell: (event: WorkerEvent) => void = () => {}): RecordedEvents {
  const all: WorkerEvent[] = [];
  const waiting = new Set<() => void>();

  const of = <TType extends EventType>(type: TType) => all.filter((event): event is EventOf<TType> => event.type === type);

  async function untilFound<T>(find: () => T | undefined, what: string, ms?: number): Promise<T> {
    let check = () => {};
    const found = new Promise<T>((resolve) => {
      check = () => {
        const event = find();
        if (event !== undefined) resolve(event);
      };
    });
    waiting.add(check);
    check();
    try {
      return await withDeadline(found, () => `${what}. So far: ${showLast(all)}`, ms);
    } finally {
      waiting.delete(check);
    }
  }

  return {
    all,
    of,
    typesFor: (id) => all.filter((event) => "id" in event && event.id === id).map(({ type }) => type),
    until: (type, count = 1, ms) => untilFound(() => of(type)[count - 1], `${count} × ${type}`, ms),
    untilFor: (id, type) => untilFound(() => of(type).find((event) => "id" in event && event.id === id), `${type} of job ${id}`),
    onEvent(event) {
      all.push(event);
      for (const check of waiting) check();
      // What it returns too: an asynchronous one returns a promise.
      return alsoTell(event);
    },
  };
}

/** Of many, a failure names the last. */
const mostShown = 50;

function showLast(all: readonly WorkerEvent[]): string {
  if (all.length === 0) return "nothing";
  const shown = all.slice(-mostShown).map(show).join(", ");
  return all.length > mostShown ? `${all.length - mostShown} others, ${shown}` : shown;
}

function show(event: WorkerEvent): string {
  return "error" in event && event.error instanceof Error ? `${event.type} (${event.error.message})` : event.type;
}
