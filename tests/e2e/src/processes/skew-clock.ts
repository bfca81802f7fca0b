/** Lets the time of day of this process be wrong by `ms`. */
export function skewClock(ms: number): void {
  const now = Date.now.bind(Date);
  const RealDate = Date;
  class SkewedDate extends RealDate {
    constructor(...given: [] | [number | string | Date]) {
      if (given.length === 0) super(now() + ms);
      else super(...given);
    }
    static override now(): number {
      return now() + ms;
    }
  }
  globalThis.Date = SkewedDate as DateConstructor;
}
