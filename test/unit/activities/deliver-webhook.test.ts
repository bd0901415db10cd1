import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { attemptDelivery } from '../../../activities/deliver-webhook.ts';
import type { WebhookOutcome, WebhookRequest } from '../../../core/webhook.ts';
import type {
  AttemptResult,
  ClaimedAttempt,
} from '../../../systems/postgres/runs/webhook-store.ts';
import type { EndRunInput } from '../../../workflows/shared/activities.ts';

const body = '{"runId":"r","labels":{"who":"Zoë €"}}';
const pending = {
  url: 'https://receiver.example/',
  body,
  deliveryId: 'd-1',
  requestId: 'q-1',
  secret: 'whs_x',
  attempt: 2,
};

function deliveryWith(claim: ClaimedAttempt, outcome: WebhookOutcome) {
  const sent: WebhookRequest[] = [];
  const recorded: (AttemptResult & { attempt: number })[] = [];
  const ended: EndRunInput[] = [];
  const observed: WebhookOutcome[] = [];
  const deps = {
    webhooks: {
      claimAttempt: async () => (ended.length > 0 && 'unended' in claim ? pending : claim),
      recordAttempt: async (_runId: string, attempt: number, result: AttemptResult) => {
        recorded.push({ attempt, ...result });
      },
    },
    sendWebhook: async (request: WebhookRequest) => {
      sent.push(request);
      return outcome;
    },
    onWebhookAttempt: (seen: WebhookOutcome) => void observed.push(seen),
    endRun: async (end: EndRunInput) => {
      ended.push(end);
      return { webhook: true, cause: end.cause, hasUnstoredFiles: false };
    },
    logger: pino({ enabled: false }),
    now: () => new Date(1_700_000_000_999),
  };
  return {
    sent,
    recorded,
    ended,
    observed,
    deliver: (attempt = 2) => attemptDelivery(deps, { runId: 'r', attempt, delivery: 0 }),
  };
}

const answered = (status: number): WebhookOutcome => ({ outcome: 'answered', status });

async function failureOf(delivery: Promise<unknown>): Promise<ApplicationFailure> {
  const error = await delivery.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApplicationFailure)) throw new Error('expected a failure');
  return error;
}

describe('a webhook attempt', () => {
  it('signs exactly the bytes that it sends, at the time of the attempt', async () => {
    const { deliver, sent } = deliveryWith(pending, answered(204));
    expect(await deliver()).toEqual({ status: 204 });
    const hmac = createHmac('sha256', 'whs_x').update(`1700000000.${body}`).digest('hex');
    expect(sent).toEqual([
      {
        url: pending.url,
        body,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Service-Webhook/1.0',
          'x-service-event': 'run.finished',
          'x-service-run-id': 'r',
          'x-service-delivery-id': 'd-1',
          'x-service-attempt': '2',
          'x-service-signature': `t=1700000000,v1=${hmac}`,
        },
      },
    ]);
  });

  it.each([199, 301, 400, 404, 500])('is retried after the answer %i', async (status) => {
    const { deliver, recorded, observed } = deliveryWith(pending, answered(status));
    const failure = await failureOf(deliver());
    expect(failure).toMatchObject({ nonRetryable: false, category: 'BENIGN' });
    expect(observed).toEqual([answered(status)]);
    expect(recorded).toEqual([{ attempt: 2, delivery: 0, status, error: null }]);
  });

  it('is retried if the receiver was not reached', async () => {
    const { deliver, recorded } = deliveryWith(pending, { outcome: 'failed', reason: 'timed_out' });
    expect(await failureOf(deliver())).toMatchObject({ nonRetryable: false });
    expect(recorded).toEqual([{ attempt: 2, delivery: 0, status: null, error: 'timed_out' }]);
  });

  it('is not retried if the address is blocked', async () => {
    const { deliver } = deliveryWith(pending, {
      outcome: 'blocked',
      reason: 'its address is not public',
    });
    expect(await failureOf(deliver())).toMatchObject({ nonRetryable: true });
  });

  it('sends nothing after the delivery', async () => {
    const { deliver, sent } = deliveryWith({ done: 200 }, answered(204));
    expect(await deliver()).toEqual({ status: 200 });
    expect(sent).toEqual([]);
  });

  it('sends nothing if no webhook is pending', async () => {
    const { deliver, sent } = deliveryWith({ unavailable: 'none' }, answered(204));
    expect(await deliver()).toEqual({ status: null });
    expect(sent).toEqual([]);
  });

  it('ends a run whose end was lost in a database restore, then delivers its webhook', async () => {
    const { deliver, sent, ended } = deliveryWith({ unended: true }, answered(204));
    expect(await deliver()).toEqual({ status: 204 });
    const lost = { cause: 'max_reconnects_exceeded', detail: 'the database restore lost its end' };
    expect(ended).toEqual([{ runId: 'r', ...lost, exitCode: null }]);
    expect(sent).toHaveLength(1);
  });

  it('sends nothing under an attempt number that is in use, and retries with the next number', async () => {
    const { deliver, sent } = deliveryWith({ unavailable: 'taken' }, answered(204));
    expect(await failureOf(deliver())).toMatchObject({ nonRetryable: false });
    expect(sent).toEqual([]);
  });

  it('makes no fifth attempt', async () => {
    const { deliver, sent } = deliveryWith(pending, answered(204));
    expect(await failureOf(deliver(5))).toMatchObject({ nonRetryable: true });
    expect(sent).toEqual([]);
  });
});
