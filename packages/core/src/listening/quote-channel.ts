import { queueError } from "../errors/queue-error.js";

/** NAMEDATALEN - 1 */
const maxBytes = 63;

/**
 * `channel` as a quoted identifier for LISTEN. Longer names are refused: LISTEN would cut them with only a notice, pg_notify
 * refuses them, and the two would never meet.
 *
 * @throws QueueError `INVALID_OPTION`
 */
export function quoteChannel(channel: string): string {
  const bytes = Buffer.byteLength(channel);
  if (bytes === 0 || bytes > maxBytes || channel.includes("\0")) {
    throw queueError("INVALID_OPTION", `A channel has 1 to ${maxBytes} bytes and no NUL, but ${JSON.stringify(channel)} has ${bytes}.`, {
      option: "channel",
    });
  }
  return `"${channel.replaceAll('"', '""')}"`;
}
