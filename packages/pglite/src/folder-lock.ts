import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join, resolve } from "node:path";
import { queueError, showValue } from "@queue/core/adapter";

const fileName = "opened-by.json";
/** Two processes that start at once can both find a stale lock, and one then finds the other's. */
const attempts = 5;
/** The start of a process is computed from two clocks. */
const clockToleranceMs = 1_000;
/** lock_file_exists, which PostgreSQL itself fails with. */
const lockFileExists = "F0001";

/** Who has the folder open. */
interface Owner {
  readonly pid: number;
  /** To tell a process from an earlier one with the same number: in a container every process is number 1. */
  readonly startedAtMs: number;
}

/** The right to open a folder. */
export interface FolderLock {
  readonly folder: string;
  release(): void;
}

/**
 * Creates `folder` where it is missing, and takes it for this process. Two servers on the same files destroy them, and
 * PGlite's own lock cannot tell: inside it every process has the same number.
 *
 * The lock of a process that is gone is taken over. Processes on other machines, or in other containers, are not seen.
 *
 * @throws QueueError `INVALID_OPTION` when the folder cannot be made or written, `DATABASE_ERROR` (F0001) when it is open
 */
export function lockFolder(folder: string): FolderLock {
  const path = resolve(checkFolder(folder));
  const lockPath = join(path, fileName);
  const self: Owner = { pid: process.pid, startedAtMs: Math.round(Date.now() - process.uptime() * 1_000) };
  let owner: Owner | undefined;
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (createLock(path, lockPath, self)) return { folder: path, release: () => rmSync(lockPath, { force: true }) };
    const text = readLock(lockPath);
    if (text === undefined) continue;
    owner = parseOwner(text);
    if (owner === undefined || isAlive(owner, self)) break;
    removeStaleLock(lockPath, text);
  }
  throw alreadyOpen(path, lockPath, owner);
}

function checkFolder(folder: unknown): string {
  if (typeof folder === "string" && folder !== "" && !folder.includes("://")) return folder;
  throw queueError(
    "INVALID_OPTION",
    `folder must be the path of a folder (leave it out for a database in memory), but is ${showValue(folder)}.`,
    {
      option: "folder",
    },
  );
}

/** False when there is a lock already. */
function createLock(folder: string, lockPath: string, owner: Owner): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(lockPath, JSON.stringify(owner), { flag: "wx" });
    return true;
  } catch (cause) {
    if (hasCode(cause, "EEXIST") && hasPath(cause, lockPath)) return false;
    throw queueError(
      "INVALID_OPTION",
      `The folder ${JSON.stringify(folder)} cannot be used for a database: ${cause instanceof Error ? cause.message : String(cause)}.`,
      { option: "folder" },
      { cause },
    );
  }
}

/** Undefined when it is gone meanwhile. */
function readLock(lockPath: string): string | undefined {
  try {
    return readFileSync(lockPath, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Undefined when it is just being written, or was cut off. */
function parseOwner(text: string): Owner | undefined {
  try {
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

function isAlive(owner: Owner, self: Owner): boolean {
  if (owner.pid === self.pid) return Math.abs(owner.startedAtMs - self.startedAtMs) < clockToleranceMs;
  if (owner.startedAtMs < Date.now() - uptime() * 1_000 - clockToleranceMs) return false;
  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there, and another user's.
    return hasCode(error, "EPERM");
  }
}

/** By renaming, so that of two who found the same stale lock only one removes it, and nobody the lock of the other. */
function removeStaleLock(lockPath: string, text: string): void {
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    renameSync(lockPath, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  if (readFileSync(aside, "utf8") === text) rmSync(aside);
  else renameSync(aside, lockPath);
}

function alreadyOpen(folder: string, lockPath: string, owner: Owner | undefined) {
  const who = owner === undefined ? "another process" : owner.pid === process.pid ? "this process" : `process ${owner.pid}`;
  return queueError(
    "DATABASE_ERROR",
    `The database in ${JSON.stringify(folder)} is already open in ${who}, and PGlite serves one at a time. Close it there, or use a PostgreSQL server for several processes. If no such process uses it, delete ${JSON.stringify(lockPath)}.`,
    { sqlState: lockFileExists },
    { isRetryable: true },
  );
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function hasPath(error: unknown, path: string): boolean {
  return error instanceof Error && "path" in error && error.path === path;
}
