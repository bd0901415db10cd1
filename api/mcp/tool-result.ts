import type { CallToolResult } from '@modelcontextprotocol/server';
import { mcpLimits } from '../../core/agent/mcp-limits.ts';
import type { ApiResponse } from './call-api.ts';

/** A successful result of a tool: JSON that the model reads. */
export const success = (value: unknown): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
});

/** An error that the model reads, so that it can correct its call. */
export const failure = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});

/** The error of a route, with its code, and with the limit that was reached. */
export function failureOf({ status, json }: ApiResponse): CallToolResult {
  const { error } = (json ?? {}) as { error?: { code: string; message: string; limit?: number } };
  if (error === undefined) return failure(`The API responded with status ${status}.`);
  const limit = error.limit === undefined ? '' : ` The limit is ${error.limit}.`;
  return failure(`${error.code}: ${error.message}${limit}`);
}

/** The member `data` of a success, which callers cast to what the route describes, or null. */
export function dataOf({ status, json }: ApiResponse): unknown {
  return status < 300 ? (json as { data: unknown }).data : null;
}

/** Keeps the end of a text, which shows how a run ended. */
export function lastPart(text: string): string {
  const { textMaxChars } = mcpLimits;
  return text.length <= textMaxChars ? text : `[…]${text.slice(-textMaxChars)}`;
}

/** Keeps the beginning of a text. */
export function firstPart(text: string): string {
  const { textMaxChars } = mcpLimits;
  return text.length <= textMaxChars ? text : `${text.slice(0, textMaxChars)}[…]`;
}

/** Keeps a value whose JSON is short, and otherwise the beginning of its JSON as a text. */
export function firstPartOf(value: unknown): unknown {
  const json = JSON.stringify(value);
  return json.length <= mcpLimits.textMaxChars ? value : firstPart(json);
}
