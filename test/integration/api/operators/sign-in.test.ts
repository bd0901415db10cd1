import { expect, test } from 'vitest';
import { logFirstSignInLink } from '../../../../api/operators/sign-in/first-sign-in.ts';
import { createLogger } from '../../../../config/logger.ts';
import { limits } from '../../../../core/limits.ts';
import { createAuditLog } from '../../../../systems/postgres/accounts/audit-log.ts';
import { createOperatorStore } from '../../../../systems/postgres/accounts/operator-store.ts';
import { publicUrl } from '../../../support/api-fixture.ts';
import { createTestDatabase, testSealer } from '../../../support/database.ts';
import { setDatabaseClock } from '../../systems/postgres/clock.ts';
import { caller } from '../call.ts';
import { useApi } from '../use-api.ts';
import { cookieOf, operatorWith, sameOrigin, signedIn } from './operator-client.ts';

const { fixture, api } = useApi();

const signIn = (code: unknown, headers: Record<string, string> = sameOrigin) =>
  caller(api, null)('/api/sign-in', { body: { code }, headers });
const invite = async (name = 'ivo') => (await fixture.stores.operators.invite(name)).code;

test('a link signs in once, with an HttpOnly and SameSite cookie', async () => {
  const code = await invite('ana');
  const answer = await signIn(code);
  expect(answer.status).toBe(200);
  expect(answer.json.data).toMatchObject({ name: 'ana' });
  expect(answer.headers.get('set-cookie')).toMatch(
    /^flowrun_operator=[0-9A-Za-z]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict; Secure$/,
  );
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const me = await operatorWith(api, cookieOf(answer))('/api/me');
  expect([me.status, me.json.data]).toEqual([200, answer.json.data]);
  const again = await signIn(code);
  const wrong = {
    code: 'UNAUTHORIZED',
    message: expect.stringMatching(/^The sign-in code is invalid/),
  };
  expect([again.status, again.json.error]).toEqual([401, wrong]);
  expect(again.headers.get('set-cookie')).toBeNull();
});

test('ten concurrent uses of one code sign in once', async () => {
  const code = await invite();
  const answers = await Promise.all(Array.from({ length: 10 }, () => signIn(code)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
});

test.each([[''], ['x'.repeat(43)], ['x'.repeat(44)], ['a\0b']])(
  'no other code opens: %j',
  async (code) => {
    const { status, json } = await signIn(code);
    expect([status, json.error.message]).toEqual([401, expect.stringContaining('code is invalid')]);
  },
);

test('rejects a code that is not a string', async () => {
  expect((await signIn(7)).status).toBe(400);
});

test('rejects changes from other origins', async () => {
  const code = await invite();
  for (const origin of ['https://elsewhere.test', 'null', `${publicUrl}:444`, '']) {
    const answer = await signIn(code, { origin });
    expect([answer.status, answer.json.error.code]).toEqual([403, 'UNAUTHORIZED']);
  }
  expect((await signIn(code, {})).status).toBe(403);
  const cookie = cookieOf(await signIn(code));
  const out = (headers: Record<string, string>) =>
    caller(api, null)('/api/sign-out', { method: 'POST', headers: { cookie, ...headers } });
  expect((await out({ origin: 'https://elsewhere.test' })).status).toBe(403);
  expect((await out({})).status).toBe(403);
  expect((await operatorWith(api, cookie)('/api/me')).status).toBe(200);
});

test('signing out and removal end a session at once, on every process', async () => {
  const other = await fixture.start();
  const gone = await signedIn(fixture, api, 'gone');
  const left = await gone('/api/sign-out', { method: 'POST' });
  expect(left.headers.get('set-cookie')).toMatch(/^flowrun_operator=; Path=\/; Max-Age=0;/);
  expect((await gone('/api/me')).status).toBe(401);

  const { code } = await fixture.stores.operators.invite('removed');
  const cookie = cookieOf(await signIn(code));
  for (const process of [api, other]) {
    expect((await operatorWith(process, cookie)('/api/me')).status).toBe(200);
  }
  expect(await fixture.stores.operators.remove('removed')).not.toBeNull();
  for (const process of [api, other]) {
    expect((await operatorWith(process, cookie)('/api/me')).status).toBe(401);
  }
});

test('a session is no access to /api/v1, and a key is no access to operator routes', async () => {
  const tenant = await fixture.tenant();
  const operator = await signedIn(fixture, api);
  const flows = await operator('/api/v1/flows');
  expect([flows.status, flows.json.error.code]).toEqual([401, 'UNAUTHORIZED']);
  const me = await caller(api, tenant.key)('/api/me');
  expect([me.status, me.json.error.code]).toEqual([401, 'UNAUTHORIZED']);
  const session = cookieOf(await signIn(await invite()));
  const value = session.slice(session.indexOf('=') + 1);
  expect((await caller(api, value)('/api/me')).status).toBe(401);
  expect((await operatorWith(api, `${session}; flowrun_operator=x`)('/api/me')).status).toBe(401);
});

test('codes and sessions expire by the database’s clock', async () => {
  const own = await createTestDatabase();
  const operators = createOperatorStore(own.pool);
  const from = new Date('2030-01-01T00:00:00.000Z').getTime();
  const at = (ms: number) => setDatabaseClock(own.pool, new Date(from + ms).toISOString());
  await at(0);
  const [late, good] = [await operators.invite('ana'), await operators.invite('ana')];
  await at(limits.operator.signInLinkMs - 1);
  const session = await operators.signIn(good.code);
  await at(limits.operator.signInLinkMs);
  expect(await operators.signIn(late.code)).toBeNull();
  const ends = limits.operator.signInLinkMs - 1 + limits.operator.sessionMs;
  await at(ends - 1);
  expect(await operators.findBySession(session?.session ?? '')).toMatchObject({ name: 'ana' });
  await at(ends);
  expect(await operators.findBySession(session?.session ?? '')).toBeNull();
  await own.drop();
});

test('prints one sign-in link over all starts of all processes', async () => {
  const own = await createTestDatabase();
  const operators = createOperatorStore(own.pool);
  const audit = createAuditLog(own.pool, testSealer);
  const lines: string[] = [];
  const logger = createLogger(
    { level: 'info', name: 'api' },
    { write: (line) => void lines.push(line) },
  );
  const start = () =>
    logFirstSignInLink(
      { audit, publicUrl, logger, firstOperator: 'eva' },
      new AbortController().signal,
    );
  await Promise.all(Array.from({ length: 10 }, start));
  await start();
  expect(lines).toHaveLength(1);
  const { link, msg } = JSON.parse(lines[0] ?? '') as Record<string, string>;
  expect(msg).toBe('first_sign_in');
  expect(link).toMatch(/^https:\/\/runs\.example\.test\/sign-in#[0-9A-Za-z]{43}$/);
  expect(await operators.signIn(link?.split('#')[1] ?? '')).toMatchObject({
    operator: { name: 'eva' },
  });
  await own.drop();
});

test('prints no link if an operator exists', async () => {
  const own = await createTestDatabase();
  const operators = createOperatorStore(own.pool);
  await operators.invite('ana');
  expect(await operators.inviteFirst('operator')).toBeNull();
  await own.drop();
});

test('prints no second link after the last operator was removed', async () => {
  const own = await createTestDatabase();
  const operators = createOperatorStore(own.pool);
  expect(await operators.inviteFirst('operator')).not.toBeNull();
  expect(await operators.remove('operator')).not.toBeNull();
  expect(await operators.inviteFirst('operator')).toBeNull();
  await own.drop();
});
