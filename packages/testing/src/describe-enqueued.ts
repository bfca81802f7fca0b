import type { Admin, JobDefinitions, JobRecord } from "@queue/core";

/** More are not looked at: a test that enqueues as many is about something else. */
const mostJobs = 10_000;
const mostShown = 10;
const longestPayload = 300;

/** The jobs of a status, newest first. */
export async function listJobs(admin: Admin<JobDefinitions>, status: JobRecord["status"] | "any" | undefined): Promise<JobRecord[]> {
  const jobs: JobRecord[] = [];
  let after: string | null = null;
  do {
    const page = await admin.jobs({ ...(status === undefined || status === "any" ? {} : { status }), limit: 1_000, after });
    jobs.push(...page.items);
    after = page.next;
  } while (after !== null && jobs.length < mostJobs);
  return jobs;
}

/** What is there: the jobs of `kind` one by one, the others by their kinds. */
export function describeEnqueued(kind: string, jobs: readonly JobRecord[]): string {
  const ofKind = jobs.filter((job) => job.kind === kind);
  const lines = ofKind.slice(0, mostShown).map(toLine);
  if (ofKind.length > mostShown) lines.push(`  and ${ofKind.length - mostShown} more`);
  const counts = new Map<string, number>();
  for (const job of jobs) if (job.kind !== kind) counts.set(job.kind, (counts.get(job.kind) ?? 0) + 1);
  const others = [...counts].map(([other, count]) => `${JSON.stringify(other)} (${count})`).join(", ");
  return [
    ofKind.length === 0 ? "No job of this kind is there." : "Of this kind are there:",
    ...lines,
    ...(others === "" ? [] : [`Of other kinds: ${others}.`]),
  ].join("\n");
}

function toLine({ id, status, payload, key, lane, priority }: JobRecord): string {
  const text = JSON.stringify(payload);
  const shown = text.length > longestPayload ? `${text.slice(0, longestPayload)}…` : text;
  return `  job ${id}, ${status}: ${shown}${key === null ? "" : `, key ${JSON.stringify(key)}`}, lane ${JSON.stringify(lane)}, priority ${priority}`;
}
