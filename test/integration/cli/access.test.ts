// API keys of projects, sign-in links of operators, and their tokens.

import { describe, expect, test } from 'vitest';
import type { KeyRecord } from '../../../systems/postgres/accounts/key-row.ts';
import { createKeyStore } from '../../../systems/postgres/accounts/key-store.ts';
import {
  createOperatorStore,
  type Operator,
} from '../../../systems/postgres/accounts/operator-store.ts';
import {
  createOperatorTokenStore,
  type OperatorToken,
} from '../../../systems/postgres/accounts/operator-token-store.ts';
import { useCliFixture } from './cli-fixture.ts';

const { fixture, flowrun } = useCliFixture();

describe('keys', () => {
  test('are printed once, alone on standard output, with an example request', async () => {
    const { out, err, code } = await flowrun('key', 'create', '--project', 'shop', '--name', 'ci');
    expect(code).toBe(0);
    expect(out).toMatch(/^frs_[0-9A-Za-z]{43}\n$/);
    expect(err).toContain('not shown again');
    expect(err).toMatch(
      /curl -H 'Authorization: Bearer frs_\w+' .*\n +http:\/\/\S+\/api\/v1\/flows\n$/,
    );
    const found = await createKeyStore(fixture.database.pool).findByKey(out.trim());
    expect(found).toMatchObject({
      projectId: 'shop',
      name: 'ci',
      state: 'active',
      rateLimitRpm: 60,
    });
    const listed = await flowrun('key', 'list', '--project', 'shop');
    expect(listed.out).toContain(out.slice(0, 12));
    expect(listed.out).not.toContain(out.trim());
  });

  test('have scopes only if some are passed', async () => {
    const create = ['key', 'create', '--project', 'shop', '--name', 'chat'];
    const flow = 'flow:5e2f1f0a-0000-4000-8000-000000000000';
    const scoped = await flowrun.json<KeyRecord>(...create, '--scope', 'chat', '--scope', flow);
    expect(scoped.scopes).toEqual(['chat', flow]);
    expect((await flowrun.json<KeyRecord>(...create)).scopes).toBeNull();
    expect((await flowrun('key', 'list', '--project', 'shop')).out).toContain('["chat",');
  });

  test('have a monthly budget that can be changed', async () => {
    const create = ['key', 'create', '--project', 'shop', '--name', 'capped'];
    const { keyId, monthlyBudgetUsd } = await flowrun.json<KeyRecord>(
      ...[...create, '--monthly-budget-usd', '0.5'],
    );
    expect(monthlyBudgetUsd).toBe(0.5);
    const set = (...options: string[]) => flowrun.json<KeyRecord>('key', 'set', keyId, ...options);
    expect(await set('--monthly-budget-usd', '20')).toMatchObject({ monthlyBudgetUsd: 20 });
    expect(await set('--monthly-budget-usd', 'none')).toMatchObject({ monthlyBudgetUsd: null });
    const budget = ['--monthly-budget-usd', '1'];
    const unknownId = '00000000-0000-4000-8000-000000000000';
    expect(await flowrun('key', 'set', unknownId, ...budget)).toMatchObject({
      ...{ code: 1, err: `No such key: ${unknownId}.\n` },
    });
    expect(await flowrun('key', 'set', keyId)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('Nothing to update') },
    });
  });

  test('have an owner, a rate and an expiry, and can be revoked', async () => {
    const { keyId } = await flowrun.json<KeyRecord & { key: string }>(
      ...['key', 'create', '--project', 'shop', '--name', 'deploy', '--created-by', 'ana'],
      ...['--rpm', '10000', '--expires', '2099-01-31T12:00:00Z'],
    );
    const revoked = await flowrun.json<KeyRecord>('key', 'revoke', keyId);
    expect(revoked).toMatchObject({
      createdBy: 'ana',
      rateLimitRpm: 10_000,
      expiresAt: '2099-01-31T12:00:00.000Z',
      state: 'revoked',
    });
    expect(await flowrun.json('key', 'revoke', keyId)).toEqual(revoked);
  });
});

describe('operators', () => {
  test('get a link that signs in once, and are signed out when removed', async () => {
    const operators = createOperatorStore(fixture.database.pool);
    const codeFrom = (link: string) =>
      /^http:\/\/127\.0\.0\.1:8080\/sign-in#(\S+)$/.exec(link)?.[1];
    const added = await flowrun('operator', 'add', 'ana');
    const again = await flowrun.json<{ link: string }>('operator', 'add', 'ana');
    const signedIn = await operators.signIn(codeFrom(added.out.trim()) ?? '');
    expect(signedIn).toMatchObject({ operator: { name: 'ana' } });
    expect(await operators.signIn(codeFrom(again.link) ?? '')).not.toBeNull();
    const listed = await flowrun.json<Operator[]>('operator', 'list');
    expect(listed.map(({ name }) => name)).toEqual(['ana']);
    expect((await flowrun('operator', 'remove', 'ana')).code).toBe(0);
    expect(await operators.findBySession(signedIn?.session ?? '')).toBeNull();
    expect((await flowrun('operator', 'remove', 'ana')).err).toContain('No such operator: ana');
  });
});

describe('operator tokens', () => {
  const create = ['token', 'create', '--operator', 'eva', '--name', 'ci'];

  test('are printed once, limited to projects, and can be revoked', async () => {
    const tokens = createOperatorTokenStore(fixture.database.pool);
    await flowrun('operator', 'add', 'eva');
    const { out, err, code } = await flowrun(...create, '--project', 'shop', '--project', 'other');
    expect([code, out]).toEqual([0, expect.stringMatching(/^fro_[0-9A-Za-z]{43}\n$/)]);
    expect(err).toContain('not shown again');
    const holder = await tokens.findHolder(out.trim());
    expect(holder).toMatchObject({ name: 'eva', token: { projectIds: ['shop', 'other'] } });
    const listed = await flowrun('token', 'list');
    expect(listed.out).toContain(out.slice(0, 12));
    expect(listed.out).not.toContain(out.trim());
    const [listedToken] = await flowrun.json<OperatorToken[]>('token', 'list');
    const { tokenId = '' } = listedToken ?? {};
    expect((await flowrun('token', 'revoke', tokenId)).code).toBe(0);
    expect(await tokens.findHolder(out.trim())).toBeNull();
    expect((await flowrun('token', 'revoke', tokenId)).err).toContain(`No such token: ${tokenId}`);
  });

  test('need an operator, and end within a year', async () => {
    const unknown = await flowrun('token', 'create', '--operator', 'ivo', '--name', 'ci');
    expect([unknown.code, unknown.err]).toEqual([1, 'No such operator: ivo.\n']);
    const late = await flowrun(...create, '--expires', '2099-01-31');
    expect([late.code, late.err]).toEqual([2, '--expires: must be at most 365 days from now.\n']);
  });
});
