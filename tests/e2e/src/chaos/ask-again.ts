import { setTimeout as pause } from "node:timers/promises";

const mostTries = 10;

/** For questions of the harness itself, which may get a connection that a fault has ended. */
export async function askAgain<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === mostTries) throw error;
      await pause(200);
    }
  }
}
