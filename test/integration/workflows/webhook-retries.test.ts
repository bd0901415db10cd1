import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookBacklogQueue, webhookQueue } from '../../../core/temporal/task-queues.ts';
import { fakeRun } from '../../support/fake-run.ts';
import {
  createWorkflowFixture,
  type RunHandle,
  type WorkflowFixture,
} from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

describe('the webhook', () => {
  it.concurrent.each([
    ['is abandoned after four attempts with delays of 2, 10 and 30 seconds', 1, [2, 10, 30]],
    ['continues with the remaining delays after earlier attempts', 3, [30]],
  ])(
    '%s',
    async (_what, firstAttempt, delays) => {
      const times: number[] = [];
      const run = fakeRun({
        deliverWebhook: async () => {
          times.push(performance.now());
          throw ApplicationFailure.retryable('the receiver answered 500');
        },
      });
      const handle = await fixture.startWebhook(run.activities, firstAttempt);
      expect(await handle.result()).toEqual({ delivered: false });
      expect(run.calls.slice(-1)).toEqual(['dropWebhook']);
      const gaps = gapsSeconds(times);
      expect(gaps).toHaveLength(delays.length);
      for (const [n, delay] of delays.entries()) {
        expect(gaps[n]).toBeGreaterThan(delay - 0.5);
        expect(gaps[n]).toBeLessThan(delay + 7); // on a busy machine
      }
    },
    90_000,
  );

  it('is abandoned at once if the attempt fails permanently', async () => {
    const run = fakeRun({
      deliverWebhook: async () => {
        throw ApplicationFailure.nonRetryable('blocked');
      },
    });
    const handle = await fixture.startWebhook(run.activities);
    expect(await handle.result()).toEqual({ delivered: false });
    expect(run.calls).toEqual(['deliverWebhook', 'dropWebhook']);
  });

  it.each([
    ['with the common slots', false, webhookQueue],
    ['with the slots for a backlog if its project has one', true, webhookBacklogQueue],
  ])('is sent %s', async (_what, hasWebhookBacklog, queueOf) => {
    const run = fakeRun({
      endRun: async ({ cause }) => ({
        ...{ webhook: true, cause, hasUnstoredFiles: false },
        hasWebhookBacklog,
      }),
    });
    const handle = await fixture.startRun(run.activities);
    run.end({});
    await handle.result();
    expect(await webhookQueueOf(handle)).toBe(queueOf(fixture.instance));
  });

  it('is sent with the slots for a backlog after its run was closed', async () => {
    const handle = await fixture.startWebhook(fakeRun().activities);
    await handle.result();
    expect(await webhookQueueOf(handle)).toBe(webhookBacklogQueue(fixture.instance));
  });

  it('never fails the run that it reports', async () => {
    const run = fakeRun({
      endRun: async ({ cause }) => ({ webhook: true, cause, hasUnstoredFiles: false }),
      deliverWebhook: async () => {
        throw ApplicationFailure.nonRetryable('blocked');
      },
    });
    const handle = await fixture.startRun(run.activities);
    run.end({});
    expect(await handle.result()).toEqual({ cause: 'completed' });
    expect(run.calls).toContain('dropWebhook');
  });
});

async function webhookQueueOf(handle: { fetchHistory: RunHandle['fetchHistory'] }) {
  const { events } = await handle.fetchHistory();
  return events
    ?.map((event) => event.activityTaskScheduledEventAttributes)
    .find((scheduled) => scheduled?.activityType?.name === 'deliverWebhook')?.taskQueue?.name;
}

function gapsSeconds(times: number[]): number[] {
  return times.slice(1).map((at, i) => (at - (times[i] ?? 0)) / 1_000);
}
