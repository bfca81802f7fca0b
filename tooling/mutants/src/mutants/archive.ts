import { coreTest } from "../killers.js";
import type { Mutant } from "../mutant.js";

const initial = "packages/core/src/migrations/0001-initial.ts";
const partitions = "packages/core/src/migrations/archive-partitions.ts";

/** The archive's partitions. */
export const archiveMutants: readonly Mutant[] = [
  {
    name: "archive-without-default-partition",
    breaks: "A job is done also on a day whose partition nobody has made.",
    file: initial,
    find: "create table ${s}.jobs_archive_default partition of ${s}.jobs_archive default",
    replace: "create table ${s}.jobs_archive_default (like ${s}.jobs_archive)",
    killers: [coreTest("archive")],
  },
  {
    name: "partition-beside-rows-of-its-day",
    breaks: "The partition of a day whose rows the default partition has waits until they are gone, and fails nothing.",
    file: partitions,
    find: " and not exists (select from ${s}.jobs_archive_default where finished_at >= day and finished_at < day + 1) then",
    replace: "then",
    killers: [coreTest("archive")],
  },
  {
    name: "partitions-dropped-too-early",
    breaks: "A partition is there as long as one of its rows has to be kept.",
    file: partitions,
    find: "if not is_kept then",
    replace: "if true then",
    killers: [coreTest("archive")],
  },
  {
    name: "partitions-never-dropped",
    breaks: "A partition of which nothing has to be kept is dropped.",
    file: partitions,
    find: "if not is_kept then",
    replace: "if false then",
    killers: [coreTest("archive")],
  },
  {
    name: "partitions-of-a-day-only",
    breaks: "There is a partition for each of the next seven days.",
    file: partitions,
    find: "for offset_days in 0 .. 7 loop",
    replace: "for offset_days in 0 .. 0 loop",
    killers: [coreTest("archive")],
  },
  {
    name: "archive-maintenance-waits-for-readers",
    breaks: "Whoever reads the archive does not hold the settles up, behind a maintenance that waits.",
    file: partitions,
    find: "set lock_timeout = '200ms'",
    replace: "",
    killers: [coreTest("archive")],
    tests: "gives up when somebody reads",
    isWaiting: true,
  },
  {
    name: "archive-maintained-with-the-caller's-rights",
    breaks: "A worker's role needs no right to create or drop tables.",
    file: partitions,
    find: "security definer",
    replace: "",
    killers: [coreTest("grants")],
    tests: "makes and drops partitions",
  },
];
