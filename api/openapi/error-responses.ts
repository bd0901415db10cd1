import { STATUS_CODES } from 'node:http';
import { errorStatuses } from '../errors.ts';

const integer = { type: 'integer' };

/** The headers that answers carry, by the name under which the description keeps them. */
export const headers = {
  'X-Request-Id': header('Names this answer in the log of the service.', { type: 'string' }),
  'X-RateLimit-Limit': header('Calls a minute that the key may make.', integer),
  'X-RateLimit-Remaining': header('Calls that are left in the bucket.', integer),
  'X-RateLimit-Reset': header('When the bucket is full again, in epoch seconds.', integer),
  'Retry-After': header('Seconds to wait.', { type: 'integer', minimum: 1 }),
  Location: header('The path of what was made.', { type: 'string' }),
  ETag: header('Changes with the content.', { type: 'string' }),
  'Content-Disposition': header('Names the file to whoever keeps it.', { type: 'string' }),
  'Content-Range': header('Which bytes of how many these are.', { type: 'string' }),
  'Idempotency-Replayed': header('`true` where the run had been started before.', {
    type: 'string',
  }),
  'Session-Resumed': header(
    '`true` where the session was there before: what else the request brought has changed nothing.',
    { type: 'string' },
  ),
  Link: header('The next page, with `rel="next"`; absent on the last one.', { type: 'string' }),
};

export type HeaderName = keyof typeof headers;

const everywhere: HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** References to the headers of every answer, and to those that this one has besides. */
export function headerRefs(...besides: HeaderName[]): Record<string, { $ref: string }> {
  const names = [...everywhere, ...besides];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** One answer for each status under which a code comes, for all operations to share. */
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
  const description = `${STATUS_CODES[status] ?? 'Error'}: ${codes.join(', ')}.`;
  return shared(description, status === 429 || status === 503 ? ['Retry-After'] : []);
}

function shared(description: string, besides: HeaderName[]): unknown {
  const content = {
    'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } },
  };
  return { description, headers: headerRefs(...besides), content };
}

function header(description: string, schema: object) {
  return { description, schema };
}
