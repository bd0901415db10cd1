import { beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../../core/audit/audit-entry.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { type OperatorClient, signedIn } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
let path: string;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
  path = `/api/projects/${tenant.projectId}`;
});

type Shown = Omit<AuditEntry, 'at'> & { at: string };

async function entries(query = `projectId=${tenant.projectId}`): Promise<Shown[]> {
  const answer = await operator(`/api/audit?limit=200&${query}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json.data;
}

describe('each change by an operator has one entry', () => {
  test('with the operator, the address, the object and the names of fields', async () => {
    const created = await operator(`${path}/flows`, {
      body: { name: 'canary-flow', env: { TOKEN: 'canary-value' }, prompt: 'canary-prompt' },
    });
    const { flowId } = created.json.data;
    const changed = await operator(`${path}/flows/${flowId}`, {
      method: 'PATCH',
      body: { prompt: null, model: 'opus', env: { TOKEN: null } },
    });
    expect(changed.status).toBe(200);
    const [second, first] = (await entries()).filter(({ objectId }) => objectId === flowId);
    expect(first).toMatchObject({
      operator: 'olga',
      tokenId: null,
      address: expect.stringContaining('127.0.0.1'),
      requestId: created.headers.get('x-request-id'),
      action: 'flow_created',
      projectId: tenant.projectId,
      fieldsBefore: [],
    });
    expect(first?.fieldsAfter).toEqual(['env', 'name', 'prompt']);
    expect(second).toMatchObject({
      requestId: changed.headers.get('x-request-id'),
      action: 'flow_changed',
      fieldsBefore: ['env', 'prompt'],
      fieldsAfter: ['model'],
    });
    expect(JSON.stringify(await entries())).not.toContain('canary');
  });

  test('of every kind', async () => {
    const own = await fixture.tenant();
    const at = `/api/projects/${own.projectId}`;
    const { keyId } = (await operator(`${at}/keys`, { body: { name: 'k' } })).json.data;
    for (const [method, url, body] of [
      ['PATCH', `${at}/settings`, { maxConcurrentRuns: 3, model: null }],
      ['DELETE', `${at}/keys/${keyId}`, {}],
      ['DELETE', `${at}/keys/${keyId}`, {}],
      ['POST', `${at}/webhook-secret/next`, {}],
      ['POST', `${at}/webhook-secret/next`, {}],
      ['POST', `${at}/webhook-secret/rotate`, {}],
      ['POST', `${at}/webhook-secret/rotate`, {}],
      ['POST', `${at}/webhook-secret/rotate`, { immediately: true }],
    ] as const)
      await operator(url, { method, body });
    await changeEndpoint(`${at}/endpoints`);
    const found = await entries(`projectId=${own.projectId}`);
    expect(found.map(({ action }) => action).reverse()).toEqual([
      'key_created',
      'settings_changed',
      'key_revoked',
      'webhook_secret_prepared',
      'webhook_secret_rotated',
      'webhook_secret_replaced',
      'endpoint_created',
      'endpoint_changed',
      'test_event_requested',
      'event_redelivered',
      'endpoint_removed',
    ]);
    expect(found.find(({ action }) => action === 'endpoint_changed')).toMatchObject({
      fieldsBefore: ['url'],
      fieldsAfter: ['url'],
    });
    expect(found.find(({ action }) => action === 'settings_changed')).toMatchObject({
      fieldsBefore: ['maxConcurrentRuns'],
      fieldsAfter: ['maxConcurrentRuns'],
    });
  });

  /** A further redelivery and a further removal change nothing. */
  async function changeEndpoint(endpoints: string): Promise<void> {
    const eventTypes = ['run.finished'];
    const body = { url: 'https://a.example/', eventTypes };
    const one = `${endpoints}/${(await operator(endpoints, { body })).json.data.endpointId}`;
    const patch = { url: 'https://b.example/', eventTypes };
    await operator(one, { method: 'PATCH', body: patch });
    const { eventId } = (await operator(`${one}/test`, { method: 'POST' })).json.data;
    await fixture.stores.events.drop(eventId);
    for (const status of [202, 400]) {
      const again = await operator(`${one}/events/${eventId}/redeliver`, { method: 'POST' });
      expect(again.status).toBe(status);
    }
    for (const status of [200, 404])
      expect((await operator(one, { method: 'DELETE' })).status).toBe(status);
  }

  test('with the token that was used', async () => {
    const { token, tokenId } = (await operator('/api/operator-tokens', { body: { name: 'ci' } }))
      .json.data;
    await caller(api, token)(`${path}/keys`, { body: { name: 'by token' } });
    const [byToken] = await entries(`projectId=${tenant.projectId}&action=key_created`);
    expect(byToken).toMatchObject({ operator: 'olga', tokenId });
    const [created] = await entries('action=token_created');
    expect(created).toMatchObject({ objectId: tokenId, projectId: null, tokenId: null });
  });

  test('also if ten calls revoke a key at once', async () => {
    const { keyId } = (await operator(`${path}/keys`, { body: { name: 'k' } })).json.data;
    const revoke = () => operator(`${path}/keys/${keyId}`, { method: 'DELETE' });
    const answers = await Promise.all(Array.from({ length: 10 }, revoke));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const ofKey = (await entries()).filter(({ objectId }) => objectId === keyId);
    expect(ofKey.map(({ action }) => action)).toEqual(['key_revoked', 'key_created']);
  });
});

test('a change that is rejected has no entry', async () => {
  const before = await entries('');
  await operator('/api/projects', { body: { projectId: tenant.projectId } });
  await operator(`${path}/flows/${tenant.flowId}`, { method: 'PATCH', body: { prompt: 7 } });
  expect(await entries('')).toEqual(before);
});

test('a change that cannot be recorded is not made', async () => {
  const keys = async () => (await fixture.stores.keys.list(tenant.projectId)).length;
  const before = await keys();
  const { pool } = fixture.database;
  await pool.query('alter table audit_log rename to audit_log_away');
  const answer = await operator(`${path}/keys`, { body: { name: 'unrecorded' } });
  await pool.query('alter table audit_log_away rename to audit_log');
  expect(answer.status).toBe(500);
  expect(await keys()).toBe(before);
});

test('entries are filtered, listed page by page, and exported as JSON lines', async () => {
  const all = await entries('');
  expect(await entries('operator=unknown')).toEqual([]);
  expect(await entries('action=flow_created')).toEqual(
    all.filter(({ action }) => action === 'flow_created'),
  );
  const from = all.at(-2)?.at ?? '';
  expect(await entries(`from=${from}`)).toEqual(all.filter(({ at }) => at >= from));
  expect(await entries(`to=${from}`)).toEqual(all.filter(({ at }) => at < from));
  const listed: Shown[] = [];
  for (let url: string | undefined = '/api/audit?limit=2'; url !== undefined; ) {
    const { json, headers } = await operator(url);
    listed.push(...json.data);
    url = /<https?:\/\/[^/>]+([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  expect(listed).toEqual(all);
  const exported = await operator('/api/audit.ndjson');
  expect(exported.status, exported.text).toBe(200);
  expect(exported.headers.get('content-type')).toContain('application/x-ndjson');
  const lines = exported.text.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(all);
});
