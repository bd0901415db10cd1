import { createHmac, randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { webhookBodies } from '../../../api/openapi/webhook-bodies.ts';
import type { StoredFiles } from '../../../core/files/stored-files.ts';
import { type EndCause, endCauses, errorOf } from '../../../core/runs/end-cause.ts';
import { noUsage, type Run } from '../../../core/runs/run.ts';
import {
  signatureBase,
  standardSignatureBase,
  webhookBody,
  webhookHeaders,
} from '../../../core/webhook.ts';
import { admittedRun } from '../../support/admitted-run.ts';
import { standardVector } from '../../support/standard-webhook-vector.ts';

const run = admittedRun({
  runId: 'r-1',
  flowId: 'f-1',
  projectId: 'p-1',
  name: 'n',
  labels: { team: 'a' },
  agentStatus: 'idle',
  prompt: 'secret prompt',
  createdAt: new Date('2026-11-21T10:00:00.000Z'),
  startedAt: new Date('2026-11-21T10:00:01.000Z'),
  result: 'done',
  spending: { calls: 2, costNanos: 500_000_000 },
  numTurns: 2,
  webhook: { state: 'waiting', attempts: 0, lastStatus: null },
  hostId: null,
  lastSeq: 7,
});
const stored = { state: 'stored', skippedCount: 0, skipped: [] } as const satisfies StoredFiles;
const finishedAt = new Date('2026-11-21T10:00:05.006Z');
const bodyOf = (cause: EndCause, change: Partial<Run> = {}, detail: string | null = null) =>
  webhookBody({
    run: { ...run, ...change },
    end: { cause, detail, exitCode: 3 },
    finishedAt,
    files: stored,
  });

describe('the body', () => {
  test('has the interface’s fields, then added ones', () => {
    expect(bodyOf('completed')).toBe(
      JSON.stringify({
        runId: 'r-1',
        flowId: 'f-1',
        projectId: 'p-1',
        status: 'sleep',
        agentStatus: 'idle',
        triggerType: 'api',
        startedAt: '2026-11-21T10:00:01.000Z',
        finishedAt: '2026-11-21T10:00:05.006Z',
        exitCode: 3,
        result: 'done',
        costUsd: 0.5,
        usage: noUsage,
        labels: { team: 'a' },
        files: { state: 'stored', skippedCount: 0, skipped: [] },
      }),
    );
  });

  test('reports that the offline model has answered', () => {
    expect(JSON.parse(bodyOf('completed', { offlineModel: true }))).toMatchObject({
      offlineModel: true,
    });
    expect(JSON.parse(bodyOf('completed'))).not.toHaveProperty('offlineModel');
  });

  test('never omits a required field', () => {
    expect(
      JSON.parse(bodyOf('stopped_by_api', { agentStatus: null, startedAt: null })),
    ).toMatchObject({
      agentStatus: 'error',
      startedAt: '2026-11-21T10:00:00.000Z',
      error: 'stopped_by_api',
    });
  });

  test.each(endCauses)('of %s has exactly the documented fields', (cause) => {
    const body: unknown = JSON.parse(bodyOf(cause, { runId: randomUUID(), flowId: randomUUID() }));
    expect(webhookBodies['run.finished'].parse(body)).toEqual(body);
  });

  test('of a session has the same fields and then its ID', () => {
    const ids = { runId: randomUUID(), flowId: randomUUID() };
    const runBody = bodyOf('timed_out', ids);
    const sessionBody = bodyOf('timed_out', { ...ids, sessionId: 's-1' });
    expect(sessionBody).toBe(runBody.replace(/}$/, ',"sessionId":"s-1"}'));
    const body: unknown = JSON.parse(sessionBody);
    expect(webhookBodies['session.ended'].parse(body)).toEqual(body);
  });

  test('does not contain the prompt', () => {
    expect(bodyOf('completed')).not.toContain('secret');
  });

  test.each(endCauses)('of %s has the error of its cause', (cause) => {
    const error = errorOf({ cause, detail: 'why', exitCode: 3 });
    const body = JSON.parse(bodyOf(cause, {}, 'why')) as { error?: string };
    expect(body.error ?? null).toBe(error);
    expect('error' in body).toBe(cause !== 'completed');
  });
});

test('the error has the exit code or the start error', () => {
  expect(errorOf({ cause: 'exited', detail: null, exitCode: 7 })).toBe(
    'Process exited with code 7',
  );
  expect(errorOf({ cause: 'container_start_failed', detail: 'no capacity', exitCode: null })).toBe(
    'container_start_failed: no capacity',
  );
});

test('the signature covers the timestamp and the exact body', () => {
  expect(signatureBase(1_700_000_000, '{"a":1}')).toBe('1700000000.{"a":1}');
});

test('the signature of Standard Webhooks is that of the published vector', () => {
  const { secret, id, timeSeconds, body, signature } = standardVector;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const base = standardSignatureBase(id, timeSeconds, body);
  expect(`v1,${createHmac('sha256', key).update(base).digest('base64')}`).toBe(signature);
});

const attempt = {
  event: 'session.ended' as const,
  ...{ runId: 'r-1', deliveryId: 'd-1', attempt: 2, unixSeconds: 5 },
  signature: { hmac: 'ab', standardHmac: 'cd' },
  nextSignature: null,
};

test('the headers have event, run and attempt', () => {
  expect(webhookHeaders(attempt)).toEqual({
    'content-type': 'application/json',
    'user-agent': 'Service-Webhook/1.0',
    'x-service-event': 'session.ended',
    'x-service-run-id': 'r-1',
    'x-service-delivery-id': 'd-1',
    'x-service-attempt': '2',
    'x-service-signature': 't=5,v1=ab',
    'webhook-id': 'd-1',
    'webhook-timestamp': '5',
    'webhook-signature': 'v1,cd',
  });
});

test('the headers have a second signature only while the secret is rotated', () => {
  const nextSignature = { hmac: 'ef', standardHmac: 'gh' };
  expect(webhookHeaders({ ...attempt, nextSignature })).toEqual({
    ...webhookHeaders(attempt),
    'x-service-signature-next': 't=5,v1=ef',
    'webhook-signature': 'v1,cd v1,gh',
  });
});
