import { setTimeout as pause } from "node:timers/promises";
import { type Fault, pastTheLeaseMs } from "./fault.js";

/** What happens between some of the workers and the database. */
export const networkFaults: readonly Fault[] = [
  {
    name: "network half open",
    async inject({ proxy }) {
      proxy.goHalfOpen();
      await pause(pastTheLeaseMs);
      proxy.recover();
    },
  },
  {
    name: "network refuses",
    async inject({ proxy }) {
      proxy.refuse();
      await pause(1_000);
      proxy.recover();
    },
  },
];
