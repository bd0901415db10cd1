import type { FastifySchemaCompiler } from 'fastify';
import type { ZodType, z } from 'zod';
import { limits } from '../../core/limits.ts';
import { type ApiError, invalid } from '../errors.ts';

/** Parses each part of a request with its zod schema, and says what is wrong by path. */
export const validatorCompiler: FastifySchemaCompiler<ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    return { error: validationError(httpPart ?? 'body', result.error.issues) };
  };

/** The same for a body that came on no request, or is only known when more than it is. */
export function parsedBody<T extends ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw validationError('body', result.error.issues);
}

interface Issue {
  code?: string;
  path: PropertyKey[];
  message: string;
  keys?: string[];
}

function validationError(httpPart: string, issues: Issue[]): ApiError {
  const part = httpPart === 'querystring' ? 'query' : httpPart;
  const said = issues.flatMap((issue) => sayIssue(part, issue));
  const shown = said.slice(0, limits.shownIssuesMax).join('; ');
  return invalid(said.length > limits.shownIssuesMax ? `${shown}; and more` : shown);
}

function sayIssue(part: string, { code, path, message, keys }: Issue): string[] {
  const at = [part, ...path].map((step) => cut(String(step))).join('.');
  if (code !== 'unrecognized_keys' || keys === undefined) return [`${at}: ${message}`];
  const shown = keys.slice(0, limits.shownIssuesMax + 1);
  return shown.map((key) => `${at}.${cut(key)}: unknown field`);
}

function cut(text: string): string {
  if (text.length <= limits.shownFieldMaxChars) return text;
  return `${text.slice(0, limits.shownFieldMaxChars)}…`;
}
