import { setTimeout as pause } from "node:timers/promises";
import { timeClaims } from "./claim-timer.js";
import { steadyMs } from "./clock.js";
import { arrive, flood, preload } from "./producer.js";
import type { ClaimTime, Reply, Request, RunnerCommands } from "./protocol.js";
import { StartLog } from "./start-log.js";
import type { System, SystemOptions } from "./system.js";

/** Answers the bench over the channel of a forked process, until the bench goes away. */
export function serveRunner(create: (options: SystemOptions) => System): void {
  const commands = runnerCommands(create);
  process.on("disconnect", () => process.exit(0));
  process.on("message", (request: Request) => {
    void answer(commands, request).then((reply) => process.send?.(reply));
  });
}

async function answer(commands: RunnerCommands, { number, command, argument }: Request): Promise<Reply> {
  try {
    const run = commands[command] as (argument: unknown) => Promise<unknown>;
    return { number, result: (await run(argument)) ?? null };
  } catch (error) {
    return { number, error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function runnerCommands(create: (options: SystemOptions) => System): RunnerCommands {
  const log = new StartLog();
  let opened: System | undefined;
  let claims: { take(): readonly ClaimTime[] } | undefined;
  const system = () => {
    if (opened === undefined) throw new Error("The runner is not open.");
    return opened;
  };
  return {
    async open(options) {
      opened = create(options);
      if (opened.isClaim !== undefined) claims = timeClaims(opened.isClaim.bind(opened));
      await opened.connect();
      return { retryDelayMs: opened.retryDelayMs, canEnqueueInTransaction: opened.enqueueInTransaction !== undefined };
    },
    install: () => system().install(),
    preload: ({ jobs, firstId, payloadBytes }) => preload(system(), jobs, firstId, payloadBytes),
    async insertBacklog({ backlog, jobs }) {
      const insert = system().insertBacklog?.bind(system());
      if (insert === undefined) throw new Error("This side has no backlog by SQL.");
      await insert(backlog, jobs);
    },
    enqueueTogether: ({ jobs, firstId }) =>
      system().enqueueTogether(Array.from({ length: jobs }, (_, index) => ({ id: firstId + index, hello: "world" }))),
    async enqueueOne({ id, delayMs = 0, failOnce = false }) {
      const calledAt = steadyMs();
      await system().enqueue({ id, hello: "world", ...(failOnce ? { failOnce } : {}) }, delayMs);
      return calledAt;
    },
    arrive: ({ perSecond, ms, firstId }) => arrive(system(), perSecond, ms, firstId),
    flood: ({ connections, ms, firstId }) => flood(system(), connections, ms, firstId),
    work: ({ record }) => system().work(log.begin(record)),
    progress: async () => log.progress(),
    waitStarted: ({ jobs, timeoutMs }) => log.waitStarted(jobs, timeoutMs),
    async waitDrained({ timeoutMs }) {
      const began = steadyMs();
      while (!(await system().isDrained())) {
        if (steadyMs() - began > timeoutMs) throw new Error(`Jobs are still unsettled after ${timeoutMs} ms.`);
        await pause(5);
      }
      return steadyMs();
    },
    takeStarts: async () => log.take(),
    takeClaims: async () => claims?.take() ?? [],
    async memory() {
      global.gc?.();
      await pause(50);
      global.gc?.();
      const { heapUsed, rss } = process.memoryUsage();
      return { heapBytes: heapUsed, rssBytes: rss };
    },
    stop: () => system().stop(),
  };
}
