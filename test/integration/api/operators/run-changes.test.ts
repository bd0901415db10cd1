// Operators change runs by the handlers of keys, below the path of the project. Each change has one
// entry in the audit log.

import { describe, expect, test } from 'vitest';
import { caller } from '../call.ts';
import { sessionWorker } from '../session-worker.ts';
import { useOperator } from './use-operator.ts';

const { fixture, api, tenant, olga, at, byKey, entriesOf, actionsOf, withoutLog } = useOperator();

async function newRun(labels = {}): Promise<string> {
  const answer = await byKey(`/flows/${tenant.flowId}/runs`, { body: { prompt: 'Go', labels } });
  return answer.json.data.runId;
}

async function newSession(): Promise<{ runId: string; sessionId: string }> {
  return (await byKey(`/flows/${tenant.flowId}/sessions`, { body: {} })).json.data;
}

const labels = { labels: { stage: 'canary' } };
const changes: [name: string, action: string, method: string, path: string, body: object][] = [
  ['labels', 'labels_changed', 'PATCH', '/labels', labels],
  ['a stop', 'run_stopped', 'POST', '/stop', { graceSeconds: 3 }],
  ['an interrupt', 'run_interrupted', 'POST', '/interrupt', {}],
  ['a deletion', 'run_deleted', 'DELETE', '', {}],
];

describe('a change of a run has one entry, with the operator and no value', () => {
  test.each(changes)('%s', async (_name, action, method, path, body) => {
    for (const usedToken of [null, olga.tokenId]) {
      const call = usedToken === null ? olga.byCookie : olga.byToken;
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
      const change = () => olga.byToken(at(`/runs/${runId}${path}`), { method, body });
      const answers = await Promise.all(Array.from({ length: 10 }, change));
      expect(answers.filter(({ status }) => status === 200).length).toBe(
        action === 'run_deleted' ? 1 : 10,
      );
      expect((await entriesOf(runId)).map((entry) => entry.action)).toEqual([action]);
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
  await olga.byCookie(at(`/runs/${stopped.runId}/stop`), { method: 'POST' });
  const path = at(`/flows/${tenant.flowId}/sessions/${ended.sessionId}`);
  for (const call of [olga.byToken, olga.byCookie]) {
    const answer = await call(path, { method: 'DELETE' });
    expect(answer.json.data, answer.text).toEqual({ ...pick(ended), ended: true });
  }
  expect(await actionsOf(stopped.runId)).toEqual(['session_ended']);
  expect(await actionsOf(ended.runId)).toEqual(['session_ended']);
});

const pick = ({ sessionId, runId }: { sessionId: string; runId: string }) => ({ sessionId, runId });

test('a request to interrupt a turn has an entry, and none between two turns', async () => {
  const { runId, sessionId } = await newSession();
  const interrupt = () => olga.byToken(at(`/runs/${runId}/interrupt`), { method: 'POST' });
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
    const answer = await olga.byCookie(at(`/runs/${runId}/labels`), { method: 'PATCH', body });
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
      const headers = { cookie: olga.cookie, ...(origin === undefined ? {} : { origin }) };
      const answer = await call(at(`/runs/${runId}${path}`), { method, body, headers });
      expect(answer.status).toBe(403);
    }
    expect(await entriesOf(runId)).toEqual([]);
    await olga.byToken(at(`/runs/${runId}${path}`), { method, body });
    expect((await entriesOf(runId)).map((entry) => entry.action)).toEqual([action]);
  },
);

test('a run of another project is missing, and a token for projects is refused there', async () => {
  const other = await fixture.tenant();
  const runId = await newRun();
  for (const [_name, _action, method, path, body] of changes) {
    const url = `/api/projects/${other.projectId}/runs/${runId}${path}`;
    expect((await olga.byCookie(url, { method, body })).status).toBe(404);
    expect((await olga.byToken(url, { method, body })).status).toBe(403);
  }
  const run = await fixture.stores.runs.find(runId);
  expect(run).toMatchObject({ endCause: null, deletedAt: null, labels: {} });
});

test('a change that cannot be recorded is not made', async () => {
  const runId = await newRun();
  await withoutLog(async () => {
    for (const [_name, _action, method, path, body] of changes) {
      const answer = await olga.byCookie(at(`/runs/${runId}${path}`), { method, body });
      expect(answer.status).toBe(500);
    }
  });
  const run = await fixture.stores.runs.find(runId);
  expect(run).toMatchObject({ endCause: null, deletedAt: null, labels: {} });
});

test('a retry by an operator has one entry, for the new run', async () => {
  const runId = await newRun();
  const url = at(`/runs/${runId}/retry`);
  expect((await olga.byToken(url, { body: {} })).status).toBe(400);
  await fixture.stores.runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const headers = { 'idempotency-key': 'once' };
  const retried = await olga.byToken(url, { body: {}, headers });
  const { runId: next, ...record } = retried.json.data;
  expect(record).toMatchObject({ triggerType: 'dashboard', retryOf: runId });
  expect(retried.headers.get('location')).toBe(at(`/runs/${next}`));
  expect((await olga.byCookie(url, { body: {}, headers })).json.data.runId).toBe(next);
  expect(await actionsOf(next)).toEqual(['run_started']);
  expect(await entriesOf(runId)).toEqual([]);
});
