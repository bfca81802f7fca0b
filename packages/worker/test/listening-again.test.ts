import { createQueue, job } from "@queue/core";
import type { Listener, ListenerEvents } from "@queue/core/adapter";
import { describe, test } from "vitest";
import { useWorkers } from "./support/use-workers.js";

const workers = useWorkers();
const queue = createQueue({ jobs: { index: job() } });

/** A listener whose connection was lost before anything was heard: what it says, the test makes it say. */
function deafListener(): Listener & { readonly events: ListenerEvents } {
  let given: ListenerEvents | undefined;
  return {
    adapter: "test",
    get events() {
      if (given === undefined) throw new Error("A worker that has started listens.");
      return given;
    },
    listen(_channel, events) {
      given = events;
      events.onListening();
      return Promise.resolve({ executor: undefined, isUp: false, close: () => Promise.resolve() });
    },
  };
}

describe("a worker that listens again after a while", () => {
  test("begins at once what came meanwhile, whose notification nobody has heard", async () => {
    const listener = deafListener();
    const { events } = await workers.start({ queue, listener, pollInterval: "10m", handlers: { index: () => {} } });
    listener.events.onError(new Error("The connection was lost."));
    const { id } = await queue.enqueue(workers.db, "index", null);
    listener.events.onListening();
    await events.untilFor(id, "job.completed");
  });

  test("begins it also when it came into a lane that no kind has by default", async () => {
    const listener = deafListener();
    const { events } = await workers.start({ queue, listener, pollInterval: "10m", handlers: { index: () => {} } });
    listener.events.onError(new Error("The connection was lost."));
    const { id } = await queue.enqueue(workers.db, "index", null, { lane: "elsewhere" });
    listener.events.onListening();
    await events.untilFor(id, "job.completed");
  });
});
