/** Declarations of somebody else that a compiler refuses, with `skipLibCheck: false`. */
export interface ForeignFault {
  /** The package that they are in. */
  readonly name: string;
  /** The environments where they are refused. */
  readonly environments: readonly string[];
  /** What the compiler says, the first of it. */
  readonly error: string;
  /** The codes of all that it says. */
  readonly codes: readonly string[];
}

/**
 * The faults that are known. A project meets one when it has the package and does not set `skipLibCheck`; there is nothing in it for us
 * to mend. Anything else is a problem, and so is a fault here that does not show any more.
 */
export const foreignFaults: readonly ForeignFault[] = [
  {
    // Of 0.5.17: it uses the types of Emscripten, and neither has nor names them.
    name: "@electric-sql/pglite",
    environments: ["typescript-5.4", "typescript-5.9", "typescript-6.0", "typescript-7.0"],
    error: "TS2503: Cannot find namespace 'Emscripten'.",
    codes: ["TS2503", "TS2304", "TS2693"],
  },
  {
    // Of 0.45.4: the parts for other databases, which are declared together with PostgreSQL's. Old compilers put TS2515 as TS18052.
    name: "drizzle-orm",
    environments: ["typescript-5.4", "typescript-5.9", "typescript-6.0", "typescript-7.0"],
    error: "TS2307: Cannot find module 'gel' or its corresponding type declarations.",
    codes: ["TS2307", "TS2344", "TS2416", "TS2420", "TS2515", "TS2559", "TS18052"],
  },
  {
    // Of 6.6.16: `Buffer<ArrayBufferLike>` and `Uint8Array<…>` are of TypeScript 5.7 and newer.
    name: "@mikro-orm/core",
    environments: ["typescript-5.4"],
    error: "TS2315: Type 'Uint8Array' is not generic.",
    codes: ["TS2315"],
  },
  {
    // Of 1.16, below pg: the same.
    name: "pg-protocol",
    environments: ["typescript-5.4"],
    error: "TS2315: Type 'Buffer' is not generic.",
    codes: ["TS2315"],
  },
];

/** What is new among `complaints` about declarations of others, and what is gone. */
export function judgeForeignTypes(complaints: readonly string[], environment: string): readonly string[] {
  const here = foreignFaults.filter((fault) => fault.environments.includes(environment));
  const unknown = new Set(complaints.filter((complaint) => !here.some((fault) => isOf(complaint, fault))));
  const gone = here.filter((fault) => !complaints.some((complaint) => isOf(complaint, fault)));
  return [
    ...unknown,
    ...gone.map(({ name, error }) => `The types of ${name} compile now: take ${JSON.stringify(error)} out of src/matrix/foreign-types.ts.`),
  ];
}

function isOf(complaint: string, { name, codes }: ForeignFault): boolean {
  const code = /: error (TS\d+):/.exec(complaint)?.[1];
  return complaint.startsWith(`node_modules/${name}/`) && code !== undefined && codes.includes(code);
}
