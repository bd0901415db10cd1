import type { FastifySchemaCompiler } from 'fastify';
import { type ZodType, z } from 'zod';
import { limits } from '../../core/limits.ts';
import { type ApiError, invalid } from '../errors.ts';
import { type Issue, parse } from './validation-issues.ts';

/** Parses each part of a request with its zod schema, and says what is wrong by path. */
export const validatorCompiler: FastifySchemaCompiler<ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const judgement = parse(schema, data);
    if ('value' in judgement) return judgement;
    const twice = httpPart === 'querystring' ? repeatedParameters(schema, data) : [];
    const faults = judgement.faults.filter(({ path: [name] }) => !twice.includes(String(name)));
    const all = [
      ...twice.map((name) => ({ path: [name], message: 'may be given once' })),
      ...faults,
    ];
    return { error: validationError(httpPart ?? 'body', all) };
  };

/** The parameters of a query that came more than once, and of which one alone is taken. */
function repeatedParameters(schema: ZodType, query: unknown): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const given = Object.entries(query as Record<string, unknown>); // a query is always an object
  return given.flatMap(([name, value]) => {
    const field: unknown = schema.shape[name];
    return Array.isArray(value) && field instanceof z.ZodType && !isList(field) ? [name] : [];
  });
}

function isList(field: ZodType): boolean {
  const inner = field instanceof z.ZodOptional ? field.unwrap() : field;
  return inner instanceof z.ZodType && inner.meta()?.type === 'array';
}

/** The same for a body that came on no request, or is only known when more than it is. */
export function parseBody<T extends ZodType>(schema: T, body: unknown): z.output<T> {
  const judgement = parse(schema, body);
  if ('value' in judgement) return judgement.value;
  throw validationError('body', judgement.faults);
}

function validationError(httpPart: string, faults: Issue[]): ApiError {
  const part = httpPart === 'querystring' ? 'query' : httpPart;
  const { maxReportedIssues: shownIssuesMax } = limits;
  const shown = faults.slice(0, shownIssuesMax).map(({ path, message }) => {
    return `${[part, ...path].map((step) => truncate(String(step))).join('.')}: ${message}`;
  });
  return invalid([...shown, ...(faults.length > shownIssuesMax ? ['and more'] : [])].join('; '));
}

function truncate(text: string): string {
  if (text.length <= limits.reportedFieldMaxChars) return text;
  return `${text.slice(0, limits.reportedFieldMaxChars)}…`;
}
