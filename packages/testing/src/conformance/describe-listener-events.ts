import type { ListenerEvents } from "@queue/core/adapter";

/** What a listener said, with a way to wait for the next of each kind. */
export interface HeardEvents extends ListenerEvents {
  readonly notifications: string[];
  readonly errors: unknown[];
  readonly listenings: number;
  /** Resolves when `kind` has happened `count` times in all. */
  until(kind: "notification" | "listening" | "error", count: number): Promise<void>;
}

export function hearEvents(): HeardEvents {
  const counts = { notification: 0, listening: 0, error: 0 };
  const waiting: { kind: keyof typeof counts; count: number; resolve: () => void }[] = [];
  const notifications: string[] = [];
  const errors: unknown[] = [];

  function happened(kind: keyof typeof counts): void {
    counts[kind] += 1;
    for (const wait of waiting) if (counts[wait.kind] >= wait.count) wait.resolve();
  }

  return {
    notifications,
    errors,
    get listenings() {
      return counts.listening;
    },
    until: (kind, count) =>
      new Promise((resolve) => {
        if (counts[kind] >= count) resolve();
        else waiting.push({ kind, count, resolve });
      }),
    onNotification(payload) {
      notifications.push(payload);
      happened("notification");
    },
    onListening: () => happened("listening"),
    onError(error) {
      errors.push(error);
      happened("error");
    },
  };
}
