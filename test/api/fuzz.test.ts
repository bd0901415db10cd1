import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorStatuses } from '../../api/errors.ts';
import { type ApiProcess, type ApiWorld, openApiWorld, type Tenant } from './api-world.ts';

let world: ApiWorld;
let api: ApiProcess;
let tenant: Tenant;

beforeAll(async () => {
  world = await openApiWorld();
  // So that what is well-formed is not refused for its rate.
  const rateLimiter = {
    take: async () => ({
      allowed: true,
      bucket: { parts: 1, atMs: 0 },
      limit: 1,
      remaining: 1,
      resetAtSeconds: 0,
      retryAfterSeconds: 0,
    }),
  };
  api = await world.start({ rateLimiter });
  tenant = await world.tenant();
});
afterAll(() => world.close());

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const fields = [
  'prompt',
  'idempotencyKey',
  'callbackUrl',
  'name',
  'labels',
  'partialMessages',
  'x',
];
const body = fc.oneof(
  fc.dictionary(fc.constantFrom(...fields), fc.oneof(scalar, fc.jsonValue(), fc.webUrl())),
  fc.jsonValue(),
);

test('whatever is in the body, the answer is one that is described', async () => {
  await fc.assert(
    fc.asyncProperty(body, (value) =>
      expectDescribed('POST', triggerPath(), JSON.stringify(value)),
    ),
    { numRuns: 300 },
  );
});

test('whatever is in the address and the query, the answer is one that is described', async () => {
  const segment = fc.oneof(
    fc.constantFrom('runs', 'flows', 'files', 'logs', 'stop', '..', '%2e', '%00', '', '%zz'),
    fc.string({ maxLength: 20 }).map(encodeURIComponent),
    fc.uuid(),
  );
  const path = fc.array(segment, { maxLength: 6 }).map((parts) => `/api/v1/${parts.join('/')}`);
  const query = fc.webQueryParameters();
  const method = fc.constantFrom('GET', 'POST', 'DELETE', 'PATCH', 'HEAD');
  await fc.assert(
    fc.asyncProperty(method, path, query, (how, where, what) =>
      expectDescribed(how, `${where}?${what}`, how === 'POST' ? '{}' : undefined),
    ),
    { numRuns: 300 },
  );
});

const triggerPath = () => `/api/v1/flows/${tenant.flowId}/runs`;

async function expectDescribed(method: string, path: string, payload?: string): Promise<void> {
  const answer = await fetch(`${api.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' },
    ...(payload === undefined ? {} : { body: payload }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBeLessThan(500);
  expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
  if (answer.status < 400 || method === 'HEAD') return;
  const { error } = JSON.parse(text) as { error: { code: keyof typeof errorStatuses } };
  expect(errorStatuses[error.code]).toContain(answer.status);
}
