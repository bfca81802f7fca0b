import { randomBytes } from "node:crypto";
import { sqlStateOf } from "@queue/core/adapter";
import { wait } from "../connect/wait.js";
import type { Check, DoctorContext } from "./check.js";

const heardNothing = {
  message: "LISTEN is taken, but no notification arrives, as through a pooler in transaction mode.",
  advice:
    "Give the listener of the workers a connection that reaches the server directly, or a pooler in session mode; until then jobs start at the poll.",
};

/** Whether a notification reaches a connection that listens: one is sent, on a channel of its own, and waited for. */
export const listening: Check = {
  name: "notifications",
  needsTables: false,
  async run(context) {
    const channel = `queue_doctor_${randomBytes(8).toString("hex")}`;
    const client = await context.pool.connect();
    const done = new AbortController();
    try {
      const heard = new Promise<true>((resolve) => client.once("notification", () => resolve(true)));
      await client.query(`listen ${channel}`);
      await notifyElsewhere(context, channel);
      const tooLate = wait(context.thresholds.listenMs, done.signal).then(() => false);
      return (await Promise.race([heard, tooLate])) ? [] : [heardNothing];
    } catch (error) {
      if (sqlStateOf(error) === "25006") {
        return [
          { message: "This server is read-only, a standby or a demoted primary: it takes no LISTEN.", advice: "Connect to the primary." },
        ];
      }
      throw error;
    } finally {
      done.abort();
      // Through a pooler, what listens now is somebody else's next session.
      await client.query(`unlisten ${channel}`).catch(() => {}); // it is closed then anyway
      client.release(true);
    }
  },
};

/** While the first connection is idle, a pooler gives its session to the other: so both are tried as workers and producers are. */
async function notifyElsewhere({ read }: DoctorContext, channel: string): Promise<void> {
  await read("select 1 as ok from pg_catalog.pg_notify($1::text, 'doctor')", [channel]);
}
