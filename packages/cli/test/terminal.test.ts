import { useTestDatabase } from "@queue/test-database";
import { beforeEach, describe, expect, it } from "vitest";
import { insertDeadJobs } from "./support/dead-jobs.js";
import { hasTmux, openTerminal } from "./support/use-terminal.js";

const database = useTestDatabase();
beforeEach(() => database.pool.query("truncate queue.jobs, queue.job_keys"));

const escape = "\u001b";

async function dead(): Promise<number> {
  const { rows } = await database.pool.query<{ n: number }>("select count(*)::int as n from queue.jobs where status = 'dead'");
  return rows[0]?.n ?? -1;
}

describe.runIf(hasTmux)("queue in a terminal", () => {
  it("makes tables as wide as the terminal, and no wider", async () => {
    await database.pool.query(
      "insert into queue.jobs (kind, lane, last_error) values ('order.send-receipt', 'mail', repeat('no such customer ', 20))",
    );
    const terminal = await openTerminal(["jobs"], { url: database.url, columns: 70 });
    const screen = await terminal.until("exit: 0");
    const lines = screen.split("\n").filter((line) => line !== "");
    // A line that is too wide would have gone on in the next.
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/order\..* no such.*…/);
  });

  it("uses colours, unless NO_COLOR says that it should not", async () => {
    const coloured = await openTerminal(["doctor"], { url: database.url });
    await coloured.until("exit: 0");
    expect(await coloured.screen({ colours: true })).toContain(`${escape}[32mfine`);
    const plain = await openTerminal(["doctor"], { url: database.url, env: { NO_COLOR: "1" } });
    await plain.until("exit: 0");
    expect(await plain.screen({ colours: true })).not.toContain(escape);
  });

  it("asks before a redrive, and does nothing after a no", async () => {
    await insertDeadJobs(database.pool, "report", 3);
    const terminal = await openTerminal(["redrive", "--all"], { url: database.url });
    await terminal.until("Redrive 3 jobs?");
    await terminal.press("n");
    expect(await terminal.until("exit: 1")).toContain("Nothing was done.");
    expect(await dead()).toBe(3);
  });

  it("redrives after a yes, and shows how far it is", async () => {
    await insertDeadJobs(database.pool, "report", 2_500);
    const terminal = await openTerminal(["redrive", "--all"], { url: database.url });
    await terminal.until("Redrive 2500 jobs?");
    await terminal.press("y");
    expect(await terminal.until("exit: 0")).toContain("2500 jobs redriven.");
    expect(await dead()).toBe(0);
  });

  it("refreshes the status in place until Ctrl-C", async () => {
    await database.pool.query("insert into queue.jobs (kind, lane) values ('tick', 'first')");
    const terminal = await openTerminal(["status", "--watch", "1"], { url: database.url });
    await terminal.until(/^first +1 /m);
    await database.pool.query("insert into queue.jobs (kind, lane) values ('tick', 'first'), ('tick', 'second')");
    const screen = await terminal.until(/^second +1 /m);
    expect(screen).toMatch(/^first +2 /m);
    expect(screen.match(/^lane /gm)).toHaveLength(1);
    await terminal.press("C-c");
    await terminal.until("exit: 0");
  });
});
