/** One step of the schema. A released one is never edited. */
export interface SchemaMigration {
  /** Sorts in the order of application: `0001-initial`. */
  readonly name: string;
  /** True when a worker of the previous version cannot run on the result: it then refuses to start (`SCHEMA_TOO_NEW`). */
  readonly breaksOlderWorkers: boolean;
  /** The SQL, one statement an item, with every name qualified and quoted. */
  statements(schema: string): readonly string[];
}
