import { STATUS_CODES } from 'node:http';
import { errorStatuses } from '../errors.ts';

const integer = { type: 'integer' };

/** The response headers, by their name in the document's components. */
export const headers = {
  'X-Request-Id': header('Identifies this request in the log of the service.', { type: 'string' }),
  'X-RateLimit-Limit': header('Requests per minute allowed for the key.', integer),
  'X-RateLimit-Remaining': header('Requests that are left in the bucket of the key.', integer),
  'X-RateLimit-Reset': header('When the bucket is full again, in seconds since 1970.', integer),
  'Retry-After': header('Seconds to wait before the next attempt.', {
    type: 'integer',
    minimum: 1,
  }),
  Location: header('The path of the created resource.', { type: 'string' }),
  ETag: header('Identifies the content, and changes with it.', { type: 'string' }),
  'Content-Disposition': header('The name under which to save the file.', { type: 'string' }),
  'Content-Range': header('The range of bytes and the size of the file.', { type: 'string' }),
  'Idempotency-Replayed': header('`true` if the run had been started before.', {
    type: 'string',
  }),
  'Session-Resumed': header(
    '`true` if the session existed before. The rest of the request was ignored.',
    { type: 'string' },
  ),
  Link: header('The next page, with `rel="next"`; absent on the last page.', { type: 'string' }),
};

export type HeaderName = keyof typeof headers;

const common: HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** References to the headers of every response, and to additional ones. */
export function headerRefs(...extra: HeaderName[]): Record<string, { $ref: string }> {
  const names = [...common, ...extra];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** One response for each status of an error code, shared by all operations. */
export function errorResponses(): Record<string, unknown> {
  const statuses = new Set<number>(Object.values(errorStatuses).flat());
  const named = [...statuses]
    .sort()
    .map((status) => [errorName(status), errorResponse(status)] as const);
  return { Error: shared('An error.', []), ...Object.fromEntries(named) };
}

export const errorName = (status: number | string) => `Error${status}`;

function errorResponse(status: number): unknown {
  const codes = Object.entries(errorStatuses).flatMap(([code, under]) =>
    (under as readonly number[]).includes(status) ? [`\`${code}\``] : [],
  );
  const title = `${STATUS_CODES[status] ?? 'Error'}: ${codes.join(', ')}.`;
  const description = [title, causes[status] ?? []].flat().join(' ');
  return shared(description, status === 429 || status === 503 ? ['Retry-After'] : []);
}

/** Descriptions of codes whose name does not explain them. */
const causes: Record<number, string> = {
  408: 'The request stalled, or its headers or body arrived too slowly. Nothing was started.',
  413: 'The body is larger than this operation accepts. Only operations with files accept large bodies.',
  414: 'A part of the path is too long.',
  431: 'The headers are too large.',
  503: 'A dependency is unavailable, its disk is almost full, or the process has no memory for another large body or answer.',
};

function shared(description: string, extra: HeaderName[]): unknown {
  const content = {
    'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } },
  };
  return { description, headers: headerRefs(...extra), content };
}

function header(description: string, schema: object) {
  return { description, schema };
}
