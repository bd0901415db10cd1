import type { FastifySchemaCompiler } from 'fastify';
import { type ZodType, z } from 'zod';
import { limits } from '../../core/limits.ts';
import { type ApiError, invalid } from '../errors.ts';
import { type Issue, parse } from './validation-issues.ts';

/** Parses each part of a request with its zod schema. Errors name the path of each field. */
export const validatorCompiler: FastifySchemaCompiler<ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const result = parse(schema, data);
    if ('value' in result) return result;
    const repeated = httpPart === 'querystring' ? repeatedParameters(schema, data) : [];
    const issues = result.issues.filter(({ path: [name] }) => !repeated.includes(String(name)));
    const all = [
      ...repeated.map((name) => ({ path: [name], message: 'must not be repeated' })),
      ...issues,
    ];
    return { error: validationError(httpPart ?? 'body', all) };
  };

/** Query parameters that were sent more than once but take one value. */
function repeatedParameters(schema: ZodType, query: unknown): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const values = Object.entries(query as Record<string, unknown>); // a query is always an object
  return values.flatMap(([name, value]) => {
    const field: unknown = schema.shape[name];
    return Array.isArray(value) && field instanceof z.ZodType && !isList(field) ? [name] : [];
  });
}

function isList(field: ZodType): boolean {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
  return inner instanceof z.ZodType && inner.meta()?.type === 'array';
}

/** The same for a body that is not the request's own, such as a merged one. */
export function parseBody<T extends ZodType>(schema: T, body: unknown): z.output<T> {
  const result = parse(schema, body);
  if ('value' in result) return result.value;
  throw validationError('body', result.issues);
}

function validationError(httpPart: string, issues: Issue[]): ApiError {
  const part = httpPart === 'querystring' ? 'query' : httpPart;
  const { reportedIssuesMax } = limits.http;
  const shown = issues.slice(0, reportedIssuesMax).map(({ path, message }) => {
    return `${[part, ...path].map((step) => truncate(String(step))).join('.')}: ${message}`;
  });
  return invalid([...shown, ...(issues.length > reportedIssuesMax ? ['…'] : [])].join('; '));
}

function truncate(text: string): string {
  if (text.length <= limits.http.reportedFieldMaxChars) return text;
  return `${text.slice(0, limits.http.reportedFieldMaxChars)}…`;
}
