// Operators read runs and sessions by the handlers of keys, below the path of the project.

import { beforeAll, describe, expect, test } from 'vitest';
import { publicUrl } from '../../../support/api-fixture.ts';
import { openStream } from '../../../support/sse-client.ts';
import { caller } from '../call.ts';
import { useTenant } from '../use-api.ts';
import { cookieOf, type OperatorClient, operatorWith, sameOrigin } from './operator-client.ts';

const { fixture, api, tenant } = useTenant();
const sessionId = 'support';
let cookie: string;
let operator: OperatorClient;
let runId: string;
let sessionRunId: string;

beforeAll(async () => {
  cookie = await signIn();
  operator = operatorWith(api, cookie);
  const call = caller(api, tenant.key);
  const at = `/api/v1/flows/${tenant.flowId}`;
  const files = ['a.txt', 'b.txt'].map((path) => ({ path, content: path, encoding: 'utf8' }));
  runId = (await call(`${at}/runs`, { body: { prompt: 'Go', files } })).json.data.runId;
  const opened = await call(`${at}/sessions`, { body: { sessionId } });
  sessionRunId = opened.json.data.runId;
  await call(`${at}/sessions`, { body: { sessionId: 'another' } });
  for (const message of ['One', 'Two']) await call(`${at}/chat`, { body: { message, sessionId } });
});

async function signIn(): Promise<string> {
  const { code } = await fixture.stores.operators.invite('olga');
  return cookieOf(await caller(api, null)('/api/sign-in', { body: { code }, headers: sameOrigin }));
}

async function operatorToken(projectIds: string[]): Promise<string> {
  const expiresAt = new Date(Date.now() + 60_000);
  const fields = { operator: 'olga', name: 'ci', expiresAt, projectIds };
  const created = await fixture.stores.operatorTokens.create(fields);
  return created?.token ?? '';
}

const projectPath = () => `/api/projects/${tenant.projectId}`;

describe('an operator gets what a key gets, with the URLs of the project', () => {
  test.each([
    ['logs', () => `/runs/${runId}/logs?format=structured&channel=all`],
    ['files', () => `/runs/${runId}/files`],
    ['a page of files', () => `/runs/${runId}/files?limit=1`],
    ['one file', () => `/runs/${runId}/files/a.txt`],
    ['an archive', () => `/runs/${runId}/files.tar`],
    ['changes', () => `/runs/${runId}/changes`],
    ['a patch', () => `/runs/${runId}/changes?format=patch`],
    ['sessions', () => `/flows/${tenant.flowId}/sessions`],
    ['a page of sessions', () => `/flows/${tenant.flowId}/sessions?limit=1`],
    ['a session', () => `/flows/${tenant.flowId}/sessions/${sessionId}`],
    ['messages', () => `/flows/${tenant.flowId}/sessions/${sessionId}/messages`],
    ['a page of messages', () => `/flows/${tenant.flowId}/sessions/${sessionId}/messages?limit=1`],
  ])('%s', async (_name, path) => {
    const byKey = await caller(api, tenant.key)(`/api/v1${path()}`);
    expect(byKey.status, byKey.text).toBe(200);
    const moved = (text: string | null) => text?.replaceAll('/api/v1', projectPath());
    const token = await operatorToken([tenant.projectId]);
    for (const call of [operator, caller(api, token)]) {
      const answer = await call(`${projectPath()}${path()}`);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.text).toBe(moved(byKey.text));
      expect(answer.headers.get('link')).toBe(moved(byKey.headers.get('link')) ?? null);
    }
  });

  test('a run, with the fields for operators', async () => {
    const { json } = await caller(api, tenant.key)(`/api/v1/runs/${runId}`);
    const { streamUrl, ...record } = json.data;
    const shown = (await operator(`${projectPath()}/runs/${runId}`)).json.data;
    expect(shown).toMatchObject(record);
    expect(shown.streamUrl).toBe(streamUrl.replace('/api/v1', projectPath()));
    expect(shown).toHaveProperty('workflowId');
  });
});

test('runs and sessions of another project are missing', async () => {
  const other = await fixture.tenant();
  for (const path of [
    `/runs/${runId}/logs`,
    `/runs/${runId}/files`,
    `/runs/${runId}/stream`,
    `/flows/${tenant.flowId}/sessions`,
    `/flows/${tenant.flowId}/sessions/${sessionId}`,
  ]) {
    for (const projectId of [other.projectId, 'unknown']) {
      const { status, text } = await operator(`/api/projects/${projectId}${path}`);
      expect(status, path).toBe(404);
      expect(text).not.toContain(tenant.projectId);
    }
    const token = await operatorToken([other.projectId]);
    expect((await caller(api, token)(`${projectPath()}${path}`)).status, path).toBe(403);
  }
});

describe.concurrent('a stream', () => {
  const url = (id: string) => `${api.url}${projectPath()}/runs/${id}/stream`;

  test('has the events of the run, for a cookie without Origin', async ({ expect: expected }) => {
    const stream = await openStream(url(runId), { key: null, cookie });
    await stream.until((events) => events.length > 0);
    expected(stream.names()[0]).toBe('status');
    stream.leave();
  });

  test('ends when the operator signs out, and other streams of the operator do not', async ({
    expect: expected,
  }) => {
    const leaving = await signIn();
    const ended = await openStream(url(sessionRunId), { key: null, cookie: leaving });
    const kept = await openStream(url(sessionRunId), { key: null, cookie });
    await ended.until((events) => events.length > 0);
    const headers = { ...sameOrigin, cookie: leaving };
    await caller(api, null)('/api/sign-out', { method: 'POST', headers });
    await ended.closed;
    expected(kept.isClosed()).toBe(false);
    kept.leave();
  });

  test('ends when the token is revoked', async ({ expect: expected }) => {
    const token = await operatorToken([tenant.projectId]);
    const stream = await openStream(url(sessionRunId), { key: token });
    await stream.until((events) => events.length > 0);
    const holder = await fixture.stores.operatorTokens.findHolder(token);
    await fixture.stores.operatorTokens.revoke(holder?.token.tokenId ?? '');
    await stream.closed;
    expected(stream.names()).not.toContain('finished');
  });

  test('takes no key from the query', async ({ expect: expected }) => {
    const answer = await operator(
      `${projectPath()}/runs/${sessionRunId}/stream?api_key=${tenant.key}`,
      { headers: { origin: publicUrl } },
    );
    expected(answer.status).toBe(400);
  });
});
