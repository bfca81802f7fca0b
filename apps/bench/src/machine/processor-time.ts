import { readdir, readFile } from "node:fs/promises";

/** The ticks of `/proc/PID/stat` are hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100;

/**
 * Seconds of processor time of a PostgreSQL server: of all its processes, and of those that have ended. `member` is the id of
 * one of its backends. Undefined where there is no `/proc`.
 */
export async function serverProcessorSeconds(member: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const postmaster = (await statOf(member))?.parent;
  if (postmaster === undefined) return undefined;
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(ids.map(statOf));
  let ticks = 0;
  for (const stat of stats) {
    if (stat?.id === postmaster) ticks += stat.own + stat.ended;
    else if (stat?.parent === postmaster) ticks += stat.own;
  }
  return ticks / ticksPerSecond;
}

async function statOf(id: number) {
  try {
    const text = await readFile(`/proc/${id}/stat`, "utf8");
    // The name, in brackets, may have spaces; after it: state, parent, …, and utime as the twelfth.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const at = (index: number) => Number(fields[index]);
    return { id, parent: at(1), own: at(11) + at(12), ended: at(13) + at(14) };
  } catch {
    // The process has ended since the folder was read.
    return undefined;
  }
}
