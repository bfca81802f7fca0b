/** What a notification of the queue's channel says. */
export type Notification =
  /** A job is due on this line since `since` (microseconds since 1970; undefined: not said), or (`isLater`) will be. */
  | {
      readonly type: "line";
      readonly lane: string;
      readonly priority: number;
      readonly isLater: boolean;
      readonly since: number | undefined;
    }
  | { readonly type: "cancel"; readonly id: string }
  /** A worker tries whether it hears itself. */
  | { readonly type: "ping"; readonly worker: string }
  /** Look everywhere. */
  | { readonly type: "any" };

const line = /^(~?)(\d)(?:@(-?\d{1,12}))? (.+)$/s;
const cancel = /^cancel (\d+)$/;
const ping = /^ping (.+)$/s;
/** What no text in a database has, and no JSON there: a listener of somebody else's making may bring it. */
// oxlint-disable-next-line no-control-regex -- the point
const noText = /[\0\p{Surrogate}]/u;

/** Anybody may notify: what is not understood means "look everywhere". */
export function parseNotification(payload: string): Notification {
  const cancelled = cancel.exec(payload);
  if (cancelled?.[1] !== undefined) return { type: "cancel", id: cancelled[1] };
  const pinged = ping.exec(payload);
  if (pinged?.[1] !== undefined) return { type: "ping", worker: pinged[1] };
  const [, later, priority, second, lane] = line.exec(payload) ?? [];
  if (priority === undefined || lane === undefined || noText.test(lane)) return { type: "any" };
  const since = second === undefined ? undefined : Number(second) * 1_000_000;
  return { type: "line", lane, priority: Number(priority), isLater: later === "~", since };
}
