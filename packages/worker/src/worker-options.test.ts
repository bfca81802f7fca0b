import { Kysely, type Transaction } from "kysely";
import { describe, expect, test } from "vitest";
import { createQueue, job, QueueError } from "@queue/core";
import { createWorker } from "@queue/worker";
import { resolveWorkerOptions } from "./worker-options.js";
import { dummyDialect } from "../test/support/dummy-dialect.js";

const queue = createQueue({ jobs: { mail: job({ lane: "letters" }), report: job() } });
const db = new Kysely<Record<string, never>>({ dialect: dummyDialect });
const handlers = { mail: () => {} };

/** The code and the option of what createWorker throws, at once. */
function refusal(options: object): readonly [code: string, option: string] {
  try {
    createWorker({ queue, db, handlers, ...options });
  } catch (error) {
    if (QueueError.is(error, "INVALID_OPTION")) return [error.code, error.option];
    if (QueueError.is(error, "UNKNOWN_KIND")) return [error.code, error.kind];
    throw error;
  }
  throw new Error("It was accepted.");
}

function resolve(options: object = {}) {
  return resolveWorkerOptions({ queue, db, handlers, ...options });
}

describe("createWorker", () => {
  test("takes what it needs, and has defaults for the rest", () => {
    expect(resolve()).toMatchObject({
      schema: "queue",
      concurrency: 10,
      prefetch: true,
      leaseMs: 30_000,
      heartbeatMs: 10_000,
      pollIntervalMs: 1_000,
      sweepIntervalMs: 5_000,
      shutdownGraceMs: 30_000,
      lanes: undefined,
      listener: undefined,
    });
    expect(Object.isFrozen(resolve())).toBe(true);
  });

  test("claims nothing ahead with one slot, for a kind of a single attempt that it handles, or when it shall not", () => {
    const single = createQueue({ jobs: { mail: job(), charge: job({ maxAttempts: 1 }) } });
    const settings = [
      {},
      { prefetch: false },
      { concurrency: 1 },
      { concurrency: 2 },
      { queue: single },
      { queue: single, handlers: { mail: () => {}, charge: () => {} } },
    ];
    expect(settings.map((options) => resolve(options).prefetch)).toEqual([true, false, false, true, true, false]);
  });

  test.each([null, "yes", 1, {}])("refuses prefetch: %j", (prefetch) => {
    expect(refusal({ prefetch })).toEqual(["INVALID_OPTION", "prefetch"]);
  });

  test("takes undefined for what is left out", () => {
    const undefinedOptions = {
      listener: undefined,
      lanes: undefined,
      concurrency: undefined,
      lease: undefined,
      heartbeat: undefined,
      logger: undefined,
      onEvent: undefined,
    };
    expect(resolve(undefinedOptions)).toMatchObject({ concurrency: 10, leaseMs: 30_000 });
    expect([...resolve({ handlers: { mail: undefined, report: () => {} } }).handlers.keys()]).toEqual(["report"]);
  });

  test("has a heartbeat of a third of the lease, and of ten seconds at most, when only the lease is named", () => {
    expect(["1s", 100, "60s", "1h"].map((lease) => resolve({ lease }).heartbeatMs)).toEqual([333, 33, 10_000, 10_000]);
    expect(resolve({ lease: 100, heartbeat: 50 })).toMatchObject({ leaseMs: 100, heartbeatMs: 50 });
  });

  test("touches nothing: no connection, no timer, no listener of the process", () => {
    const before = [process.getActiveResourcesInfo().length, process.listenerCount("SIGTERM")];
    createWorker({ queue, db, handlers });
    expect([process.getActiveResourcesInfo().length, process.listenerCount("SIGTERM")]).toEqual(before);
  });

  test.each([
    [{ concurrency: 0 }, "concurrency"],
    [{ concurrency: 1.5 }, "concurrency"],
    [{ concurrency: "10" }, "concurrency"],
    [{ concurrency: Number.POSITIVE_INFINITY }, "concurrency"],
    [{ concurrency: 10_001 }, "concurrency"],
    [{ concurrency: null }, "concurrency"],
    [{ lease: "30 s" }, "lease"],
    [{ lease: 0 }, "lease"],
    [{ lease: -1 }, "lease"],
    [{ lease: Number.NaN }, "lease"],
    [{ lease: null }, "lease"],
    [{ lease: 99 }, "lease"],
    [{ lease: 2 ** 31 }, "lease"],
    [{ heartbeat: 9 }, "heartbeat"],
    [{ heartbeat: "15001ms" }, "heartbeat"],
    [{ lease: "1s", heartbeat: 501 }, "heartbeat"],
    [{ pollInterval: 0 }, "pollInterval"],
    [{ pollInterval: 2 ** 31 }, "pollInterval"],
    [{ pollInterval: "25d" }, "pollInterval"],
    [{ sweepInterval: 0 }, "sweepInterval"],
    [{ sweepInterval: "1w" }, "sweepInterval"],
    [{ shutdownGrace: -1 }, "shutdownGrace"],
    [{ shutdownGrace: 2 ** 31 }, "shutdownGrace"],
    [{ lanes: [] }, "lanes"],
    [{ lanes: {} }, "lanes"],
    [{ lanes: "mail" }, "lanes"],
    [{ lanes: null }, "lanes"],
    [{ lanes: [""] }, "lanes"],
    [{ lanes: [7] }, "lanes"],
    [{ lanes: ["x".repeat(201)] }, "lanes"],
    [{ lanes: ["nul \u0000"] }, "lanes"],
    [{ lanes: { mail: { concurrency: 0 } } }, 'lanes["mail"].concurrency'],
    [{ lanes: { mail: {} } }, 'lanes["mail"].concurrency'],
    [{ lanes: { mail: { concurency: 5 } } }, "concurency"],
    [{ lanes: { mail: 5 } }, 'lanes["mail"]'],
    [{ lanes: { mail: null } }, 'lanes["mail"]'],
    [{ listener: {} }, "listener"],
    [{ listener: null }, "listener"],
    [{ listener: "postgres://localhost" }, "listener"],
    [{ handlers: undefined }, "handlers"],
    [{ handlers: null }, "handlers"],
    [{ handlers: () => {} }, "handlers"],
    [{ handlers: { mail: "send" } }, 'handlers["mail"]'],
    [{ handlers: { mail: null } }, 'handlers["mail"]'],
    [{ handlers: { mail: { run: () => {} } } }, 'handlers["mail"]'],
    [{ handlers: { mail: { transactional: true } } }, 'handlers["mail"]'],
    [{ handlers: { mail: { transactional: false, run: () => {} } } }, 'handlers["mail"]'],
    [{ queue: undefined }, "queue"],
    [{ queue: null }, "queue"],
    [{ queue: {} }, "queue"],
    [{ queue: { schema: "queue" } }, "jobs"],
    [{ db: undefined }, "db"],
    [{ db: {} }, "db"],
    [{ db: "postgres://localhost" }, "db"],
    [{ logger: {} }, "logger"],
    [{ logger: null }, "logger"],
    [{ onEvent: "log" }, "onEvent"],
    [{ onEvent: null }, "onEvent"],
    [{ pollIntervall: "1s" }, "pollIntervall"],
  ])("refuses %o, naming the option", (options, option) => {
    expect(refusal(options)).toEqual(["INVALID_OPTION", option]);
  });

  test.each(["", "orders.ship", "constructor", "toString", "hasOwnProperty", "__proto__", "Mail", "mail "])(
    "refuses a handler of the kind %j, which the queue does not define",
    (kind) => {
      expect(refusal({ handlers: { [kind]: () => {} } })).toEqual(["UNKNOWN_KIND", kind]);
      expect(refusal({ handlers: { [kind]: undefined } })).toEqual(["UNKNOWN_KIND", kind]);
    },
  );

  test("refuses a Transaction, and says what it wants", () => {
    const trx = Object.create(db, { isTransaction: { value: true } }) as Transaction<Record<string, never>>;
    expect(refusal({ db: trx })).toEqual(["INVALID_OPTION", "db"]);
    expect(() => createWorker({ queue, db: trx as never, handlers })).toThrow(/not a Transaction/);
  });

  test("refuses options that are none", () => {
    for (const options of [undefined, null, 7, []]) expect(() => createWorker(options as never)).toThrow(QueueError);
  });

  test("takes each lane that is named twice once", () => {
    expect(resolve({ lanes: ["a", "b", "a"] }).lanes).toEqual(["a", "b"]);
    expect(resolve({ lanes: { a: { concurrency: 1 }, constructor: { concurrency: 2 } } })).toMatchObject({ lanes: ["a", "constructor"] });
  });
});
