import type { Connection } from "../connect/open-connection.js";

/** Something that is wrong, and what to do about it. */
export interface Finding {
  /** What is wrong, in one sentence. */
  readonly message: string;
  /** What to do: a sentence, often with the statement that does it. */
  readonly advice: string;
}

/** What a check found; or why it could not look. */
export type CheckResult = readonly Finding[] | { readonly skipped: string };

/** From where on something is worth a word. */
export interface Thresholds {
  /** How old a transaction may be, in milliseconds. */
  readonly heldForMs: number;
  readonly deadRows: number;
  /** How far the clocks of this machine and the server may be apart, in milliseconds. */
  readonly clockMs: number;
  /** How long a notification may take, in milliseconds. */
  readonly listenMs: number;
}

export interface DoctorContext extends Connection {
  readonly thresholds: Thresholds;
  /** Whose rights are looked at; null: those of the connection. */
  readonly role: string | null;
  /** The schema, quoted. */
  readonly quotedSchema: string;
  /** Runs one statement; its rows. */
  read<TRow>(sql: string, parameters?: readonly unknown[]): Promise<TRow[]>;
}

/** One question to the database, in a file of its own. */
export interface Check {
  readonly name: string;
  /** It reads the tables: without them it is not asked. */
  readonly needsTables: boolean;
  run(context: DoctorContext): Promise<CheckResult>;
}
