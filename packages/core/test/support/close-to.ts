import { expect } from "vitest";

/** So many seconds, less what a busy machine may take until they are looked at. */
export const about = (seconds: number): unknown => expect.closeTo(seconds, -0.6);
