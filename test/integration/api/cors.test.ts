import { beforeAll, describe, expect, test } from 'vitest';
import type { ApiProcess } from '../../support/api-fixture.ts';
import { caller } from './call.ts';
import { useTenant } from './use-api.ts';

const { fixture, api: open, tenant } = useTenant();
let listed: ApiProcess;
const page = { origin: 'https://app.example' };
const unlisted = { origin: 'https://elsewhere.example' };

beforeAll(async () => {
  listed = await fixture.start({ corsOrigins: ['https://app.example', 'http://localhost:5173'] });
});

const preflight = (api: ApiProcess, path: string, headers: Record<string, string> = page) =>
  caller(api, null)(path, {
    method: 'OPTIONS',
    headers: { 'access-control-request-method': 'POST', ...headers },
  });

describe('any origin', () => {
  test('may send a preflight without a key for any path below /api/v1', async () => {
    for (const path of [`/api/v1/flows/${tenant.flowId}/runs`, '/api/v1/nothing', '/api/v1']) {
      const answer = await preflight(open, path);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-methods')).toContain('PATCH');
      expect(answer.headers.get('access-control-allow-headers')).toBe('Authorization, *');
      expect(answer.headers.get('x-ratelimit-limit')).toBe('60');
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('reads every answer and error, with their headers', async () => {
    const call = caller(open, tenant.key);
    const answers = [
      await call('/api/v1/flows', { headers: page }),
      await call('/api/v1/flows?x=1', { headers: page }),
      await call('/api/v1/nothing', { headers: page }),
      await call('/api/v1/%zz', { headers: page }),
      await call(`/api/v1/runs/${'x'.repeat(2_000)}`, { headers: page }),
      await caller(open, null)('/api/v1/flows', { headers: page }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 400, 414, 401]);
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
      for (const name of promised) expect(exposed).toContain(name);
    }
  });

  test('is never allowed cookies, or paths outside /api/v1', async () => {
    const answer = await caller(open, tenant.key)('/api/v1/flows', { headers: page });
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    for (const path of ['/healthz', '/api/projects', '/api/v10/flows', '/nothing']) {
      const outside = await caller(open, null)(path, { headers: page });
      expect(outside.headers.get('access-control-allow-origin'), path).toBeNull();
      expect((await preflight(open, path)).status, path).not.toBe(204);
    }
  });

  test('sends a preflight as OPTIONS with both headers; other requests are answered normally', async () => {
    const path = '/api/v1/flows';
    const bare = await caller(open, null)(path, { method: 'OPTIONS', headers: page });
    expect(bare.status).toBe(401);
    const ofNobody = await caller(open, tenant.key)(path, { method: 'OPTIONS' });
    expect([ofNobody.status, ofNobody.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('listed origins', () => {
  test('are each echoed, with a Vary header for caches', async () => {
    for (const origin of ['https://app.example', 'http://localhost:5173']) {
      const answer = await caller(listed, tenant.key)('/api/v1/flows', { headers: { origin } });
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      expect(answer.headers.get('vary')).toBe('Origin');
    }
    const preflightAnswer = await preflight(listed, '/api/v1/flows');
    expect([
      preflightAnswer.status,
      preflightAnswer.headers.get('access-control-allow-origin'),
    ]).toEqual([204, 'https://app.example']);
  });

  test('are the only allowed ones', async () => {
    for (const headers of [unlisted, { origin: 'null' }, { origin: 'https://app.example.evil' }]) {
      const answer = await caller(listed, tenant.key)('/api/v1/flows', { headers });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(answer.headers.get('vary')).toBe('Origin');
      const preflightAnswer = await preflight(listed, '/api/v1/flows', headers);
      expect(preflightAnswer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const ofNobody = await caller(listed, tenant.key)('/api/v1/flows');
    expect([ofNobody.status, ofNobody.headers.get('vary')]).toEqual([200, 'Origin']);
  });
});

const promised = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Location',
  'Link',
  'Idempotency-Replayed',
  'Session-Resumed',
  'ETag',
];
