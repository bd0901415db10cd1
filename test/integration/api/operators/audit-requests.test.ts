// Requests that change no configuration, and that the audit log names nevertheless: sign-ins, runs
// and redeliveries.

import { beforeAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../../../core/audit/audit-entry.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import {
  cookieOf,
  type OperatorClient,
  operatorWith,
  sameOrigin,
  signedIn,
} from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let operator: OperatorClient;
beforeAll(async () => {
  operator = await signedIn(fixture, api);
});

const entriesOf = async (query: string): Promise<AuditEntry[]> =>
  (await operator(`/api/audit?${query}`)).json.data;

test('a sign-in and a sign-out have one entry each, and a failed sign-in has none', async () => {
  const { code, operator: ina } = await fixture.stores.operators.invite('ina');
  const signIn = () => caller(api, null)('/api/sign-in', { body: { code }, headers: sameOrigin });
  const answers = await Promise.all(Array.from({ length: 10 }, signIn));
  const accepted = answers.filter(({ status }) => status === 200);
  expect(accepted).toHaveLength(1);
  const cookie = cookieOf(accepted[0] ?? fail());
  await operatorWith(api, cookie)('/api/sign-out', { method: 'POST' });
  const [out, signedInAt, ...others] = await entriesOf('operator=ina');
  expect(others).toEqual([]);
  const common = { source: 'api', operatorId: ina.operatorId, objectId: ina.operatorId };
  expect(signedInAt).toMatchObject({ ...common, action: 'signed_in', projectId: null });
  expect(out).toMatchObject({ ...common, action: 'signed_out' });
  expect(signedInAt?.requestId).toBe(accepted[0]?.headers.get('x-request-id'));
});

test('a run that an operator starts has one entry, with files and without', async () => {
  const { projectId, flowId } = await fixture.tenant({ maxConcurrentRuns: 2 });
  const path = `/api/projects/${projectId}/flows/${flowId}/runs`;
  const files = [{ path: 'run.txt', content: 'a', encoding: 'utf8' }];
  const headers = { 'idempotency-key': 'once' };
  const plain = await operator(path, { body: { prompt: 'canary' }, headers });
  await operator(path, { body: { prompt: 'canary' }, headers });
  const withFiles = await operator(path, { body: { prompt: 'canary', files } });
  expect((await operator(path, { body: { prompt: 'one too many' } })).status).toBe(429);
  const found = await entriesOf(`projectId=${projectId}&action=run_started`);
  expect(found.map(({ objectId }) => objectId)).toEqual([
    withFiles.json.data.runId,
    plain.json.data.runId,
  ]);
  expect(JSON.stringify(found)).not.toContain('canary');
  expect(fixture.asked.started).toHaveLength(2);
});

test('a run of a key has no entry', async () => {
  const call = caller(api, tenant.key);
  await call(`/api/v1/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go' } });
  expect(await entriesOf(`projectId=${tenant.projectId}`)).toEqual([]);
});

test('a redelivery has one entry, and a refused one has none', async () => {
  const own = await fixture.tenant();
  const { projectId } = own;
  const body = { prompt: 'Go', callbackUrl: 'https://example.com/' };
  const triggered = await caller(api, own.key)(`/api/v1/flows/${own.flowId}/runs`, { body });
  const { runId } = triggered.json.data;
  const path = `/api/projects/${projectId}/runs/${runId}/webhook/redeliver`;
  expect((await operator(path, { method: 'POST' })).status).toBe(400);
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  await fixture.stores.webhooks.drop(runId);
  expect((await operator(path, { method: 'POST' })).status).toBe(202);
  expect(await entriesOf(`projectId=${projectId}`)).toMatchObject([
    { action: 'webhook_redelivered', objectId: runId, operator: 'olga' },
  ]);
});

function fail(): never {
  throw new Error('no sign-in was accepted');
}
