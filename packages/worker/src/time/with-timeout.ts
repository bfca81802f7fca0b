import type { Clock } from "./clock.js";

/** What `promise` comes to, or a rejection when that takes longer than `ms`: for answers that may never come. */
export async function withTimeout<T>(promise: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => reject(new Error(`no answer within ${Math.round(ms)} ms`)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}
