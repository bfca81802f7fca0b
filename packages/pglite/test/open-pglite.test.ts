import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, onTestFinished, test } from "vitest";
import { QueueError } from "@queue/core";
import { openPglite } from "@queue/pglite";

interface Database {
  notes: { id: number };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "queue-pglite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Another Node process, killed at the end of the test. */
function otherProcess(script: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

describe("a database in memory", () => {
  test("is there until it is closed, and close() can be called twice", async () => {
    const database = await openPglite<Database>();
    await database.db.schema.createTable("notes").addColumn("id", "integer").execute();
    await Promise.all([database.close(), database.close()]);
    await database.close();
    await expect(database.db.selectFrom("notes").selectAll().execute()).rejects.toThrow("destroyed");
    expect(database.pglite.closed).toBe(true);
  });

  test("can be closed before it was used, and by `await using`", async () => {
    const { pglite, [Symbol.asyncDispose]: dispose } = await openPglite<Database>();
    await dispose();
    expect(pglite.closed).toBe(true);
  });

  test("refuses options that do not exist", async () => {
    await expect(openPglite({ dataDir: "./data" } as never)).rejects.toSatisfy((error) => QueueError.is(error, "INVALID_OPTION"));
  });
});

describe("a database in a folder", () => {
  test("is made with its parents, kept, and opened again", async () => {
    const folder = join(temporaryFolder(), "deep", "down");
    const first = await openPglite<Database>({ folder });
    await first.db.schema.createTable("notes").addColumn("id", "integer").execute();
    await first.db.insertInto("notes").values({ id: 1 }).execute();
    await first.db.destroy();
    const second = await openPglite<Database>({ folder });
    expect(await second.db.selectFrom("notes").selectAll().execute()).toEqual([{ id: 1 }]);
    await second.close();
    expect(readdirSync(folder).filter((name) => name.startsWith("opened-by"))).toEqual([]);
  });

  test("keeps what was committed when its process is killed, and can be opened at once", async () => {
    const folder = temporaryFolder();
    const child = otherProcess(
      `import { PGlite } from "@electric-sql/pglite";
       const pglite = await PGlite.create(process.argv[1]);
       await pglite.exec("create table notes (id int); insert into notes values (1)");
       await pglite.exec("begin; insert into notes values (2)");
       process.stdout.write("written");`,
      folder,
    );
    await once(child.stdout ?? child, "data");
    writeLock(folder, child);
    await kill(child);
    const database = await openPglite<Database>({ folder });
    expect(await database.db.selectFrom("notes").selectAll().execute()).toEqual([{ id: 1 }]);
    await database.close();
  });

  test("is refused while another process has it open", async () => {
    const folder = temporaryFolder();
    const child = otherProcess("setInterval(() => {}, 1_000)");
    writeLock(folder, child);
    const error = await rejectionOf(openPglite({ folder }));
    expect(QueueError.is(error, "DATABASE_ERROR") && error.sqlState).toBe("F0001");
    expect(String(error)).toContain(`process ${child.pid}`);
    expect(String(error)).toContain("opened-by.json");
    expect(existsSync(join(folder, "PG_VERSION"))).toBe(false);
  });

  test("is refused while this process has it open, and free again when it was closed", async () => {
    const folder = temporaryFolder();
    const first = await openPglite({ folder });
    expect(String(await rejectionOf(openPglite({ folder })))).toContain("this process");
    await first.close();
    await (await openPglite({ folder })).close();
  });

  test("is taken over from an earlier process with the same number, and from before the last boot", async () => {
    const folder = temporaryFolder();
    for (const owner of [
      { pid: process.pid, startedAtMs: Date.now() - 86_400_000 },
      { pid: process.ppid, startedAtMs: 0 },
    ]) {
      writeFileSync(join(folder, "opened-by.json"), JSON.stringify(owner));
      const database = await openPglite({ folder });
      expect(readFileSync(join(folder, "opened-by.json"), "utf8")).toContain(`"pid":${process.pid},`);
      await database.close();
    }
  });

  test("is refused with a lock that nobody can read, which says what to delete", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "opened-by.json"), "{");
    expect(String(await rejectionOf(openPglite({ folder })))).toContain("delete");
  });

  test("that cannot be made is a wrong option", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    for (const folder of [file, join(file, "below"), "", "memory://", 7 as never]) {
      expect(await rejectionOf(openPglite({ folder }))).toSatisfy(
        (error) => QueueError.is(error, "INVALID_OPTION") && error.option === "folder",
      );
    }
  });

  test("of another version of PostgreSQL is refused, and left free", async () => {
    const folder = temporaryFolder();
    const database = await openPglite({ folder });
    await sql`select 1`.execute(database.db);
    await database.close();
    const versionFile = join(folder, "PG_VERSION");
    const version = readFileSync(versionFile);
    writeFileSync(versionFile, "14\n");
    const error = await rejectionOf(openPglite({ folder }));
    expect(QueueError.is(error, "DATABASE_ERROR")).toBe(true);
    expect(String(error)).toContain("could not be opened");
    writeFileSync(versionFile, version);
    await (await openPglite({ folder })).close();
  });
});

function writeLock(folder: string, { pid }: ChildProcess): void {
  writeFileSync(join(folder, "opened-by.json"), JSON.stringify({ pid, startedAtMs: Date.now() }));
}

async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It did not reject.");
}
