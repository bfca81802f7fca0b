const weekSeconds = 7 * 86_400;

export interface ApiSettings {
  /** `DATABASE_URL` */
  readonly url: string;
  /** `PORT`; 0: any free one. */
  readonly port: number;
  /** `REVIEW_DELAY_SECONDS` */
  readonly reviewDelayMs: number;
}

/** The settings of the api from its environment, or the sentence that says what is wrong with them. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): ApiSettings | { readonly problem: string } {
  const { DATABASE_URL: url = "", PORT: port = "0", REVIEW_DELAY_SECONDS: reviewDelay = String(weekSeconds) } = env;
  if (url === "") {
    return {
      problem:
        "DATABASE_URL is not set. The api and the worker meet in a database that both can reach: give both the same one.\nThe whole shop in one process, without a server: npm run demo",
    };
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    return { problem: `PORT must be a number from 0 to 65535, but is ${JSON.stringify(port)}.` };
  if (!/^\d{1,8}(\.\d+)?$/.test(reviewDelay)) {
    return { problem: `REVIEW_DELAY_SECONDS must be a number of seconds, but is ${JSON.stringify(reviewDelay)}.` };
  }
  return { url, port: Number(port), reviewDelayMs: Math.round(Number(reviewDelay) * 1_000) };
}
