// Operators change runs by the handlers of keys, below the path of the project. Each change has one
// entry in the audit log.

import { beforeAll, describe, expect, test } from 'vitest';
import type { AuditEntry } from '../../../../core/audit/audit-entry.ts';
import { type CallOptions, caller } from '../call.ts';
import { sessionWorker } from '../session-worker.ts';
import { useTenant } from '../use-api.ts';
import { cookieOf, type OperatorClient, operatorWith, sameOrigin } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
let cookie: string;
let tokenId: string;
let operator: OperatorClient;
let byToken: OperatorClient;

beforeAll(async () => {
  const { code } = await fixture.stores.operators.invite('olga');
  const signIn = { body: { code }, headers: sameOrigin };
  cookie = cookieOf(await caller(api, null)('/api/sign-in', signIn));
  operator = operatorWith(api, cookie);
  const expiresAt = new Date(Date.now() + 3_600_000);
  const projectIds = [tenant.projectId];
  const fields = { operator: 'olga', name: 'ci', expiresAt, projectIds };
  const created = await fixture.stores.operatorTokens.create(fields);
  tokenId = created?.record.tokenId ?? '';
  byToken = caller(api, created?.token ?? '');
});

const byKey = (path: string, options?: CallOptions) =>
  caller(api, tenant.key)(`/api/v1${path}`, options);
const at = (path: string) => `/api/projects/${tenant.projectId}${path}`;

async function newRun(labels = {}): Promise<string> {
  const answer = await byKey(`/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go', labels } });
  return answer.json.data.runId;
}

async function newSession(): Promise<{ runId: string; sessionId: string }> {
  return (await byKey(`/flows/${tenant.flowId}/sessions`, { body: {} })).json.data;
}

/** Oldest first. */
async function entriesOf(objectId: string): Promise<AuditEntry[]> {
  const { json } = await operator(`/api/audit?limit=200&projectId=${tenant.projectId}`);
  return json.data.filter((entry: AuditEntry) => entry.objectId === objectId).reverse();
}

const actionsOf = async (runId: string) => (await entriesOf(runId)).map(({ action }) => action);

const labels = { labels: { stage: 'canary' } };
const changes: [name: string, action: string, method: string, path: string, body: object][] = [
  ['labels', 'labels_changed', 'PATCH', '/labels', labels],
  ['a stop', 'run_stopped', 'POST', '/stop', { graceSeconds: 3 }],
  ['an interrupt', 'run_interrupted', 'POST', '/interrupt', {}],
  ['a deletion', 'run_deleted', 'DELETE', '', {}],
];

describe('a change of a run has one entry, with the operator and no value', () => {
  test.each(changes)('%s', async (_name, action, method, path, body) => {
    for (const [call, usedToken] of [[operator, null] as const, [byToken, tokenId] as const]) {
      const runId = await newRun();
      const like = await newRun();
      const same = await byKey(`/runs/${like}${path}`, { method, body });
      const answer = await call(at(`/runs/${runId}${path}`), { method, body });
      expect(answer.status, answer.text).toBe(200);
      const { createdAt: _createdAt, ...shown } = answer.json.data;
      const expected = same.text.replaceAll(like, runId).replaceAll('/api/v1', at(''));
      expect(JSON.parse(expected).data).toMatchObject(shown);
      await call(at(`/runs/${runId}${path}`), { method, body });
      const [entry, ...others] = await entriesOf(runId);
      expect(others).toEqual([]);
      expect(entry).toMatchObject({
        ...{ source: 'api', operator: 'olga', tokenId: usedToken, action },
        ...{ projectId: tenant.projectId, requestId: answer.headers.get('x-request-id') },
        ...{ fieldsBefore: [], fieldsAfter: action === 'labels_changed' ? ['labels'] : [] },
      });
      expect(JSON.stringify(entry)).not.toContain('canary');
    }
  });

  test.each(changes)(
    '%s, if ten calls make it at once',
    async (_name, action, method, path, body) => {
      const runId = await newRun();
      const change = () => byToken(at(`/runs/${runId}${path}`), { method, body });
      const answers = await Promise.all(Array.from({ length: 10 }, change));
      expect(answers.filter(({ status }) => status === 200).length).toBe(
        action === 'run_deleted' ? 1 : 10,
      );
      expect(await actionsOf(runId)).toEqual([action]);
    },
  );

  test.each(changes)('%s by a key has none', async (_name, _action, method, path, body) => {
    const runId = await newRun();
    expect((await byKey(`/runs/${runId}${path}`, { method, body })).status).toBe(200);
    expect(await entriesOf(runId)).toEqual([]);
  });
});

test('a stop, or the end of a session, has the entry `session_ended`', async () => {
  const [stopped, ended] = [await newSession(), await newSession()];
  await operator(at(`/runs/${stopped.runId}/stop`), { method: 'POST' });
  const path = at(`/flows/${tenant.flowId}/sessions/${ended.sessionId}`);
  for (const call of [byToken, operator]) {
    const answer = await call(path, { method: 'DELETE' });
    expect(answer.json.data, answer.text).toEqual({ ...pick(ended), ended: true });
  }
  expect(await actionsOf(stopped.runId)).toEqual(['session_ended']);
  expect(await actionsOf(ended.runId)).toEqual(['session_ended']);
});

const pick = ({ sessionId, runId }: { sessionId: string; runId: string }) => ({ sessionId, runId });

test('a request to interrupt a turn has an entry, and none between two turns', async () => {
  const { runId, sessionId } = await newSession();
  const interrupt = () => byToken(at(`/runs/${runId}/interrupt`), { method: 'POST' });
  expect((await interrupt()).status).toBe(200);
  const body = { message: 'Hello', sessionId };
  const { messageId } = (await byKey(`/flows/${tenant.flowId}/chat`, { body })).json.data;
  await sessionWorker(fixture, runId).begin();
  expect((await interrupt()).status).toBe(200);
  expect(await actionsOf(runId)).toEqual(['interrupt_requested']);
  expect(fixture.asked.interrupted).toContainEqual({ workflowId: `session/${runId}`, messageId });
});

test('a refused change, or one that leaves the labels as they are, has no entry', async () => {
  const runId = await newRun({ stage: 'one' });
  const tooMany = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`l${i}`, 'x']));
  for (const [change, status] of [
    [{ stage: 'one' }, 200],
    [{ absent: null }, 200],
    [tooMany, 400],
  ] as const) {
    const body = { labels: change };
    const answer = await operator(at(`/runs/${runId}/labels`), { method: 'PATCH', body });
    expect(answer.status, answer.text).toBe(status);
  }
  expect(await entriesOf(runId)).toEqual([]);
});

test.each(changes)(
  '%s needs the origin of the service for a cookie, and no origin for a token',
  async (_name, action, method, path, body) => {
    const runId = await newRun();
    const call = caller(api, null);
    for (const origin of ['https://elsewhere.example', undefined]) {
      const headers = { cookie, ...(origin === undefined ? {} : { origin }) };
      const answer = await call(at(`/runs/${runId}${path}`), { method, body, headers });
      expect(answer.status).toBe(403);
    }
    expect(await entriesOf(runId)).toEqual([]);
    await byToken(at(`/runs/${runId}${path}`), { method, body });
    expect(await actionsOf(runId)).toEqual([action]);
  },
);

test('a run of another project is missing, and a token for projects is refused there', async () => {
  const other = await fixture.tenant();
  const runId = await newRun();
  for (const [_name, _action, method, path, body] of changes) {
    const url = `/api/projects/${other.projectId}/runs/${runId}${path}`;
    expect((await operator(url, { method, body })).status).toBe(404);
    expect((await byToken(url, { method, body })).status).toBe(403);
  }
  const run = await fixture.stores.runs.find(runId);
  expect(run).toMatchObject({ endCause: null, deletedAt: null, labels: {} });
});

test('a change that cannot be recorded is not made', async () => {
  const runId = await newRun();
  const { pool } = fixture.database;
  await pool.query('alter table audit_log rename to audit_log_away');
  const statuses = [];
  for (const [_name, _action, method, path, body] of changes)
    statuses.push((await operator(at(`/runs/${runId}${path}`), { method, body })).status);
  await pool.query('alter table audit_log_away rename to audit_log');
  expect(statuses).toEqual(changes.map(() => 500));
  const run = await fixture.stores.runs.find(runId);
  expect(run).toMatchObject({ endCause: null, deletedAt: null, labels: {} });
});
