import { setTimeout as pause } from "node:timers/promises";
import { busyWorker, type Fault, pastTheLeaseMs } from "./fault.js";

const hourMs = 3_600_000;

/** What happens to worker processes. */
export const processFaults: readonly Fault[] = [
  {
    name: "kill -9 a worker",
    isMeasured: true,
    async inject(world, random) {
      const worker = await busyWorker(world, random);
      const { pid } = worker;
      worker.signal("SIGKILL");
      await pause(300);
      return pid;
    },
  },
  {
    name: "SIGTERM a worker",
    async inject(world, random) {
      const worker = await busyWorker(world, random);
      const { pid } = worker;
      worker.signal("SIGTERM");
      await pause(300);
      return pid;
    },
  },
  {
    name: "freeze a worker past its lease",
    async inject(world, random) {
      const worker = await busyWorker(world, random);
      const { pid } = worker;
      worker.signal("SIGSTOP");
      await pause(pastTheLeaseMs);
      worker.signal("SIGCONT");
      return pid;
    },
  },
  {
    name: "a worker's clock an hour off",
    isBackground: true,
    async inject(world, random) {
      const worker = world.addWorker({ CHAOS_RELEASE: "new", CHAOS_CLOCK_OFF_MS: String(random() < 0.5 ? hourMs : -hourMs) });
      await pause(4_000);
      await world.removeWorker(worker);
    },
  },
  {
    // Forth and back: a new worker beside the old one, which then drains; and the old release again.
    name: "rolling deploy",
    isBackground: true,
    async inject(world) {
      const old = world.workers.find(({ env }) => env["CHAOS_RELEASE"] === "old");
      if (old === undefined) throw new Error("There is no worker of the old release.");
      const fresh = world.addWorker({ ...old.env, CHAOS_RELEASE: "new" });
      await pause(1_500);
      await world.removeWorker(old);
      await pause(500);
      world.addWorker(old.env);
      await pause(1_000);
      await world.removeWorker(fresh);
    },
  },
];
