import { createHmac } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { attemptDelivery } from '../../../activities/deliver-webhook.ts';
import type { DeliveryExecution } from '../../../activities/delivery-progress.ts';
import type { WebhookOutcome, WebhookRequest } from '../../../core/webhook.ts';
import type { AttemptClaim, ClaimedAttempt } from '../../../systems/postgres/runs/claim-attempt.ts';
import type { AttemptResult } from '../../../systems/postgres/runs/record-attempt.ts';
import type { EndRunInput } from '../../../workflows/shared/activities.ts';

const body = '{"runId":"r","labels":{"who":"Zoë €"}}';
const pending = {
  event: 'run.finished' as const,
  runId: 'r',
  url: 'https://receiver.example/',
  body,
  deliveryId: 'd-1',
  requestId: 'q-1',
  secret: 'whs_x',
  nextSecret: null,
  attempt: 2,
};

/** What the claim returns; null: it gets no answer. */
type Answer = ClaimedAttempt | null;

function deliveryWith(claim: Answer, outcome: WebhookOutcome) {
  const sent: WebhookRequest[] = [];
  const recorded: (AttemptResult & { attempt: number })[] = [];
  const ended: EndRunInput[] = [];
  const observed: WebhookOutcome[] = [];
  const failures: boolean[] = [];
  const claims: AttemptClaim[] = [];
  const reported: unknown[] = [];
  const released: string[] = [];
  const deps = {
    webhooks: {
      claimAttempt: async (made: AttemptClaim) => {
        claims.push(made);
        if (claim === null) return new Promise<never>(() => undefined);
        return ended.length > 0 && 'unended' in claim ? pending : claim;
      },
      recordAttempt: async (_runId: string, attempt: number, result: AttemptResult) => {
        if (failures.pop()) throw new Error('the connection is lost');
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
  const execution = {
    ...{
      id: 'r',
      logFields: { runId: 'r' },
      delivery: 0,
      claimedBy: 'w',
      execution: 3,
      made: 1,
      unanswered: null,
    },
    taskQueue: 'webhook',
    memory: { reserve: async () => true, release: () => void released.push('released') },
    report: (progress: unknown) => void reported.push(progress),
  };
  return {
    sent,
    recorded,
    ended,
    observed,
    failures,
    claims,
    reported,
    released,
    deliver: (own: Partial<DeliveryExecution> & { claimTimeoutMs?: number } = {}) =>
      attemptDelivery({ ...deps, ...own }, { ...execution, ...own }),
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
    const standard = createHmac('sha256', 'whs_x').update(`d-1.1700000000.${body}`);
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
          'webhook-id': 'd-1',
          'webhook-timestamp': '1700000000',
          'webhook-signature': `v1,${standard.digest('base64')}`,
        },
      },
    ]);
  });

  it.each([199, 301, 400, 404, 500])('is retried after the answer %i', async (status) => {
    const { deliver, recorded, observed } = deliveryWith(pending, answered(status));
    const failure = await failureOf(deliver());
    expect(failure).toMatchObject({ nonRetryable: false, category: 'BENIGN' });
    expect(failure.nextRetryDelay).toBe(10_000);
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

  it.each([
    ['delivers', answered(204)],
    ['fails', answered(500)],
  ])('returns its memory when it %s', async (_what, outcome) => {
    const { deliver, released } = deliveryWith(pending, outcome);
    await deliver().catch(() => undefined);
    expect(released).toEqual(['released']);
  });

  it.each([
    [1, 2_000],
    [2, 10_000],
    [3, 30_000],
  ])('after number %i states the delay of the next one', async (attempt, delayMs) => {
    const { deliver } = deliveryWith({ ...pending, attempt }, answered(500));
    const failure = await failureOf(deliver());
    expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: delayMs });
  });

  it('is the last one if it has number 4', async () => {
    const { deliver, recorded } = deliveryWith({ ...pending, attempt: 4 }, answered(500));
    expect(await failureOf(deliver())).toMatchObject({ nonRetryable: true });
    expect(recorded).toHaveLength(1);
  });

  it('is stored as delivered although Postgres has failed twice', async () => {
    const { deliver, failures, sent, recorded } = deliveryWith(pending, answered(204));
    failures.push(true, true);
    expect(await deliver()).toEqual({ status: 204 });
    expect(sent).toHaveLength(1);
    expect(recorded).toEqual([{ attempt: 2, delivery: 0, status: 204, error: null }]);
  });

  it('is reported before it is made', async () => {
    const { deliver, reported } = deliveryWith(pending, answered(204));
    await deliver({ unanswered: { from: 1, to: 2 } });
    expect(reported).toEqual([{ made: 2, unanswered: null }]);
  });

  it.each([
    ['another caller has claimed it', { unavailable: 'taken' }, undefined],
    ['it is not due', { dueInMs: 1_234 }, 1_234],
    ['there is no memory for its body', { unavailable: 'no_memory' }, 2_000],
  ] as const)('sends nothing if %s, and is retried', async (_what, claim, delayMs) => {
    const { deliver, sent, reported } = deliveryWith(claim, answered(204));
    const failure = await failureOf(deliver());
    expect(failure.nonRetryable).toBe(false);
    expect(failure.nextRetryDelay).toBe(delayMs);
    expect([sent, reported]).toEqual([[], []]);
  });

  it('is not made if none is left', async () => {
    const { deliver, sent } = deliveryWith({ unavailable: 'none_left' }, answered(204));
    expect(await failureOf(deliver())).toMatchObject({ nonRetryable: true });
    expect(sent).toEqual([]);
  });

  it('sends nothing if its claim gets no answer, and leaves the attempt to the next call', async () => {
    const { deliver, sent, claims, reported } = deliveryWith(null, answered(204));
    await expect(deliver({ claimTimeoutMs: 20 })).rejects.toThrow('timeout');
    expect(claims[0]?.signal?.aborted).toBe(true);
    expect(sent).toEqual([]);
    expect(reported).toEqual([{ made: 1, unanswered: { from: 3, to: 3 } }]);
    const unanswered = { from: 1, to: 2 };
    await expect(deliver({ claimTimeoutMs: 20, unanswered })).rejects.toThrow('timeout');
    expect(reported[1]).toEqual({ made: 1, unanswered: { from: 1, to: 3 } });
  });
});
