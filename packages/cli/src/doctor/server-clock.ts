import { showSpan } from "../output/instant.js";
import type { Check } from "./check.js";

/** Whether the server's clock went back: then jobs were created in the future, and due ones wait until it has caught up. */
export const serverClock: Check = {
  name: "clock of the server",
  needsTables: true,
  async run({ read, quotedSchema }) {
    const [row] = await read<{ ahead_ms: number | null }>(
      `select (extract(epoch from created_at - pg_catalog.clock_timestamp()) * 1000)::float8 as ahead_ms
         from ${quotedSchema}.jobs order by id desc limit 1`,
    );
    if (row?.ahead_ms == null || row.ahead_ms <= 0) return [];
    return [
      {
        message: `The newest job was created ${showSpan(row.ahead_ms)} in the future: the server's clock went back.`,
        advice: "Jobs that were due wait until it has caught up; let NTP set the clock of the server.",
      },
    ];
  },
};
