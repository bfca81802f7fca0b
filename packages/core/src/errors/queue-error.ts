/** What each code adds to the error. */
export interface QueueErrorDetails {
  /** A payload that JSON or the kind's schema refuses. `path` is like `$.items[2].price`; `index` is the item of a batch. */
  INVALID_PAYLOAD: { readonly path: string; readonly index?: number | undefined };
  /** An option of the wrong type, out of range, or contradicting another. */
  INVALID_OPTION: { readonly option: string; readonly index?: number | undefined };
  /** A kind that this queue does not define. */
  UNKNOWN_KIND: { readonly kind: string; readonly index?: number | undefined };
  /** The queue's tables are not there: `migrate` has not run on this database. */
  SCHEMA_MISSING: { readonly schema: string };
  /** The tables are those of an older version: `migrate` has to run. */
  SCHEMA_TOO_OLD: { readonly schema: string; readonly expected: string; readonly found: string };
  /** The tables are those of a newer version that says it breaks this one: deploy the newer package. */
  SCHEMA_TOO_NEW: { readonly schema: string; readonly expected: string; readonly found: string };
  /** PostgreSQL older than 14. */
  SERVER_TOO_OLD: { readonly found: string };
  /** The lease ran out or another took the job over: what this attempt did is not recorded. */
  LEASE_LOST: { readonly jobId: string };
  JOB_NOT_FOUND: { readonly jobId: string };
  /** The job is in a state that this operation does not apply to. */
  JOB_STATE: { readonly jobId: string; readonly status: string };
  /** Another job holds the idempotency key of a dead letter. */
  KEY_HELD: { readonly jobId: string; readonly key: string };
  /** The attempt took longer than the kind's `timeout`. */
  ATTEMPT_TIMEOUT: { readonly jobId: string; readonly timeoutMs: number };
  /** The job was cancelled while it ran. */
  JOB_CANCELLED: { readonly jobId: string };
  /** The worker stops, and its grace is over. */
  WORKER_STOPPING: { readonly jobId: string };
  /** `once`: another attempt is in the middle of the same effect. */
  EFFECT_IN_PROGRESS: { readonly jobId: string; readonly key: string };
  /** Handlers failed while `drain` of `@queue/testing` worked; `cause` is the first error. */
  HANDLER_FAILED: { readonly jobId: string; readonly status: string };
  /** The database refused or did not answer; `cause` is the driver's error. */
  DATABASE_ERROR: { readonly sqlState: string | undefined };
}

export type QueueErrorCode = keyof QueueErrorDetails;

const mark = Symbol.for("@queue/core/QueueError");
/** Worth trying again without a change: the others are mistakes, or decisions. */
const retryable: ReadonlySet<QueueErrorCode> = new Set<QueueErrorCode>([
  "LEASE_LOST",
  "ATTEMPT_TIMEOUT",
  "WORKER_STOPPING",
  "EFFECT_IN_PROGRESS",
]);

/**
 * Everything this library throws on purpose. Tell one from another by `code`, and from other errors with `QueueError.is`,
 * which also knows the errors of another copy of the package.
 */
export class QueueError extends Error {
  readonly code: QueueErrorCode;
  /** Whether the same call can succeed later without a change. */
  readonly isRetryable: boolean;

  /** Made by the library; an application only reads them. */
  constructor(code: QueueErrorCode, message: string, options?: { readonly cause?: unknown; readonly isRetryable?: boolean }) {
    super(message, options !== undefined && "cause" in options ? { cause: options.cause } : undefined);
    this.name = "QueueError";
    this.code = code;
    this.isRetryable = options?.isRetryable ?? retryable.has(code);
    Object.defineProperty(this, mark, { value: true });
  }

  static is(error: unknown): error is QueueError;
  static is<TCode extends QueueErrorCode>(
    error: unknown,
    code: TCode,
  ): error is QueueError & { readonly code: TCode } & QueueErrorDetails[TCode];
  static is(error: unknown, code?: QueueErrorCode): boolean {
    if (typeof error !== "object" || error === null) return false;
    try {
      // The mark's value, too: a proxy may have every property.
      const { code: found, [mark]: marked } = error as { readonly code?: unknown; readonly [mark]?: unknown };
      return marked === true && (code === undefined || found === code);
    } catch {
      return false; // a proxy or a getter that throws is somebody else's object
    }
  }
}

/** A {@link QueueError} with the details of its code. */
export function queueError<TCode extends QueueErrorCode>(
  code: TCode,
  message: string,
  details: QueueErrorDetails[TCode],
  options?: { readonly cause?: unknown; readonly isRetryable?: boolean },
): QueueError & { readonly code: TCode } & QueueErrorDetails[TCode] {
  return Object.assign(new QueueError(code, message, options) as QueueError & { readonly code: TCode }, details);
}
