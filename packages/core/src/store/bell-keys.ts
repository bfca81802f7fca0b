import { notificationChannel } from "./notification-channel.js";

/** Names whose hashes are the advisory keys that workers hold, shared, while enqueues are to ring for them. */
export interface BellKeys {
  /** Held by each of them: when nobody has it, an enqueue looks no further. */
  readonly any: string;
  /** Held by those that serve all lanes. */
  readonly everyLane: string;
  /** Held by those that serve some lanes, for each of them: this, and the lane. */
  readonly lanePrefix: string;
}

export function bellKeys(schema: string): BellKeys {
  const bell = `${notificationChannel(schema)}.bell`;
  return { any: bell, everyLane: `${bell}.*`, lanePrefix: `${bell}.lane ` };
}
