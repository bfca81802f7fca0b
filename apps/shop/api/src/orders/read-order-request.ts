import type { HonoRequest } from "hono";
import * as z from "zod";
import { orderRequest, type OrderRequest } from "./order-request.js";

export type ReadOrderRequest = { readonly order: OrderRequest } | { readonly problem: string };

/**
 * The order in a request: JSON `{ customerId, lines: [{ productId, quantity }] }`, or a form with `customerId` and, as often as
 * there are lines, `productId` and `quantity`.
 */
export async function readOrderRequest(request: HonoRequest): Promise<ReadOrderRequest> {
  const parsed = orderRequest.safeParse(isForm(request) ? fromForm(await request.parseBody({ all: true })) : await readJson(request));
  return parsed.success ? { order: parsed.data } : { problem: z.prettifyError(parsed.error) };
}

/** Whether a browser's form sent it, which wants a page and not JSON. */
export function isForm(request: HonoRequest): boolean {
  const type = request.header("content-type") ?? "";
  return type.startsWith("application/x-www-form-urlencoded") || type.startsWith("multipart/form-data");
}

async function readJson(request: HonoRequest): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return undefined; // the schema says what was expected
  }
}

function fromForm(fields: Record<string, unknown>): unknown {
  const quantities = asList(fields["quantity"]);
  return {
    customerId: asNumber(fields["customerId"]),
    lines: asList(fields["productId"]).map((productId, index) => ({
      productId: asNumber(productId),
      quantity: asNumber(quantities[index]),
    })),
  };
}

function asList(field: unknown): unknown[] {
  return field === undefined ? [] : Array.isArray(field) ? field : [field];
}

function asNumber(field: unknown): unknown {
  return typeof field === "string" && /^\d+$/.test(field) ? Number(field) : field;
}
