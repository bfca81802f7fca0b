/** What a notification of the queue's channel says. */
export type Notification =
  /** A job is due on this line, or (`isLater`) will be. */
  | { readonly type: "line"; readonly lane: string; readonly priority: number; readonly isLater: boolean }
  | { readonly type: "cancel"; readonly id: string }
  /** Look everywhere. */
  | { readonly type: "any" };

const line = /^(~?)(\d) (.+)$/s;
const cancel = /^cancel (\d+)$/;

/** Anybody may notify: what is not understood means "look everywhere". */
export function parseNotification(payload: string): Notification {
  const cancelled = cancel.exec(payload);
  if (cancelled?.[1] !== undefined) return { type: "cancel", id: cancelled[1] };
  const [, later, priority, lane] = line.exec(payload) ?? [];
  if (priority === undefined || lane === undefined) return { type: "any" };
  return { type: "line", lane, priority: Number(priority), isLater: later === "~" };
}
