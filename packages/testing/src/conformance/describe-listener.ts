import { describe } from "vitest";
import { describeListenerClosing } from "./describe-listener-closing.js";
import { describeListenerHearing } from "./describe-listener-hearing.js";
import { describeListenerLosses } from "./describe-listener-losses.js";
import { type ListenerAdapter, useListenerSuite } from "./describe-listener-suite.js";

/**
 * What every listener on a connection of its own does the same, as tests against a real database: it hears its channel, finds
 * out a loss and connects again, runs statements in the session that listens, and leaves nothing behind. The suite does to
 * its connections what networks do, by proxies of its own.
 *
 * Put it before other suites in the file: it counts the sockets and timers of the process.
 *
 * @example
 * describeListener("@queue/pg", async () => ({ url, listener, run, whenTerminated, close }));
 */
export function describeListener(name: string, open: () => Promise<ListenerAdapter>): void {
  describe(`${name} listens`, () => {
    const suite = useListenerSuite(open);
    describeListenerHearing(suite);
    describeListenerLosses(suite);
    describeListenerClosing(suite);
  });
}
