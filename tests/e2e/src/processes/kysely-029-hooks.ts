import type { ResolveHook } from "node:module";

export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  nextResolve(specifier.replace(/^kysely(?=$|\/)/, "kysely-029"), context);
