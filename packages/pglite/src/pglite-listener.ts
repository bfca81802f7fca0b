import { AsyncResource } from "node:async_hooks";
import type { PGliteInterface } from "@electric-sql/pglite";
import { type Listener, type ListenerEvents, quoteChannel, type Subscription } from "@queue/core/adapter";

/** What listens: a `PGlite` of any copy and with any extensions, by shape. */
export type PgliteNotifier = Pick<PGliteInterface, "query" | "onNotification">;

/**
 * Listens for the notifications that wake a worker, inside the process: PGlite's one session hears what it says itself. There
 * is no connection that could be lost, so there is nothing to report, and no executor of its own.
 *
 * @example createWorker({ queue, db, listener: pgliteListener(pglite), handlers });
 */
export function pgliteListener(pglite: PgliteNotifier): Listener {
  return {
    adapter: "pglite",
    async listen(channel: string, events: ListenerEvents): Promise<Subscription> {
      // By PGlite's listen() a quoted name can be listened to, and never be left again.
      const listen = `listen ${quoteChannel(channel)}`;
      // It calls back inside the commit that notifies. What the worker does then must not run in the async context of whoever
      // committed: it is not part of their request, nor of their transaction.
      const hear = AsyncResource.bind((heardChannel: string, payload: string) => {
        if (heardChannel === channel) events.onNotification(payload);
      });
      const stopHearing = pglite.onNotification(hear);
      try {
        await pglite.query(listen);
        // Its one session holds no key against itself: enqueues cannot find out that somebody sleeps.
        await pglite.query("set queue.bell = 'always'");
      } catch (error) {
        stopHearing();
        throw error;
      }
      events.onListening();
      return {
        async close() {
          // Without UNLISTEN, which would take the channel from everybody else in the process.
          stopHearing();
        },
      };
    },
  };
}
