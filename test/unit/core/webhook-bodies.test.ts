// The description of webhooks. Every receiver in the tests checks its requests against it.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { StoredFiles } from '../../../core/files/stored-files.ts';
import { noUsage } from '../../../core/runs/run.ts';
import {
  testEventBody,
  type WebhookEvent,
  webhookBody,
  webhookHeaders,
} from '../../../core/webhook.ts';
import { admittedRun } from '../../support/admitted-run.ts';
import { webhookError } from '../../support/webhook-error.ts';

const ids = { runId: randomUUID(), flowId: randomUUID(), projectId: 'p-1' };
const skipped = { path: 'a', reason: 'a pipe' };
const files: StoredFiles = { state: 'partial', skippedCount: 1, skipped: [skipped] };
const end = { cause: 'completed', detail: null, exitCode: 0 } as const;
const finished = { end, finishedAt: new Date(), files };
/** The bodies of the other events are composed by Postgres. */
const bodies = {
  'run.finished': webhookBody({ ...finished, run: admittedRun(ids) }),
  'session.ended': webhookBody({ ...finished, run: admittedRun({ ...ids, sessionId: 's-1' }) }),
  'endpoint.test': testEventBody({
    projectId: 'p-1',
    endpointId: randomUUID(),
    at: new Date(),
  }),
};

const headersOf = (event: WebhookEvent) =>
  webhookHeaders({
    event,
    runId: event === 'endpoint.test' ? null : ids.runId,
    deliveryId: randomUUID(),
    attempt: 1,
    unixSeconds: 1,
    signature: { hmac: 'a', standardHmac: 'b' },
    nextSignature: null,
  });

test.each(Object.entries(bodies) as [keyof typeof bodies, string][])(
  '%s matches its schema',
  (event, body) => {
    expect(webhookError({ headers: headersOf(event), body })).toBeNull();
  },
);

test('a webhook with another field, event or form, or without a header, does not match its schema', () => {
  const body = JSON.parse(bodies['run.finished']) as Record<string, object>;
  const headers = headersOf('run.finished');
  const changes: Record<string, unknown>[] = [
    { more: 1 },
    { usage: { ...noUsage, more: 1 } },
    { files: { ...files, skipped: [{ ...skipped, size: 1 }] } },
    { labels: null },
    { runId: undefined },
  ];
  for (const change of changes) {
    const changed = JSON.stringify({ ...body, ...change });
    expect(webhookError({ headers, body: changed }), JSON.stringify(change)).not.toBeNull();
  }
  for (const change of [{ 'x-service-event': 'run.started' }, { 'x-service-run-id': undefined }]) {
    const changed = { ...headers, ...change };
    expect(webhookError({ headers: changed, body: bodies['run.finished'] })).not.toBeNull();
  }
});
