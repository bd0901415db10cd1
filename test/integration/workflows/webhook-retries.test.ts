import { ApplicationFailure } from '@temporalio/activity';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBodyMemory } from '../../../activities/body-memory.ts';
import { attemptDelivery } from '../../../activities/deliver-webhook.ts';
import { currentExecution } from '../../../activities/delivery-progress.ts';
import { runQueue, webhookBacklogQueue, webhookQueue } from '../../../core/temporal/task-queues.ts';
import type { Pool } from '../../../systems/postgres/client/pool.ts';
import { createRunStore } from '../../../systems/postgres/runs/run-store.ts';
import { createWebhookStore } from '../../../systems/postgres/runs/webhook-store.ts';
import { createTestDatabase, type TestDatabase, testSealer } from '../../support/database.ts';
import { createScenario, type Scenario } from '../../support/database-records.ts';
import { endOf } from '../../support/end-of-workflow.ts';
import { fakeRun } from '../../support/fake-run.ts';
import {
  createWorkflowFixture,
  type RunHandle,
  type WorkflowFixture,
} from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
let database: TestDatabase;
let scenario: Scenario;
beforeAll(async () => {
  [fixture, database] = await Promise.all([createWorkflowFixture(), createTestDatabase()]);
  scenario = await createScenario(database.pool, testSealer);
});
afterAll(async () => {
  await fixture?.close();
  await database?.drop();
});

/** Makes the attempts of a run in the database, with a receiver that answers 500. */
async function failingDelivery(pool: Pool = database.pool) {
  const { runId } = await scenario.run({ callbackUrl: 'https://hooks.example/run' });
  const runs = createRunStore(database.pool, testSealer);
  await runs.endRun({ runId, cause: 'completed', detail: null, exitCode: 0 });
  const times: number[] = [];
  const memory = createBodyMemory()('webhook');
  const deps = {
    webhooks: createWebhookStore(pool, testSealer),
    sendWebhook: async () => {
      times.push(performance.now());
      return { outcome: 'answered', status: 500 } as const;
    },
    onWebhookAttempt: () => undefined,
    endRun: () => Promise.reject(new Error('the run has ended')),
    logger: pino({ enabled: false }),
    now: () => new Date(),
  };
  const run = fakeRun({
    deliverWebhook: ({ firstAttempt }) =>
      attemptDelivery(deps, {
        ...{ id: runId, logFields: { runId }, delivery: 0, memory },
        ...currentExecution(firstAttempt),
      }),
  });
  const made = async () => (await deps.webhooks.attempts(runId)).map(({ attempt }) => attempt);
  return { run, times, made };
}

/** Executes every statement. The answer to each one that inserts an attempt is lost. */
function losingClaims(): Pool {
  const query = async (text: string, values: unknown[]) => {
    const answer = await database.pool.query(text, values);
    if (text.includes('insert into webhook_attempts')) throw new Error('the connection is lost');
    return answer;
  };
  return { query } as unknown as Pool;
}

describe('the webhook', () => {
  it.concurrent.each([
    ['is abandoned after four attempts with delays of 2, 10 and 30 seconds', 1, [2, 10, 30]],
    ['continues with the remaining delays after earlier attempts', 3, [30]],
  ])(
    '%s',
    async (_what, firstAttempt, delays) => {
      const { run, times, made } = await failingDelivery();
      const handle = await fixture.startWebhook(run.activities, firstAttempt);
      expect(await handle.result()).toEqual({ delivered: false });
      expect(run.calls.slice(-1)).toEqual(['dropWebhook']);
      expect(await made()).toEqual([1, 2, 3, 4].slice(firstAttempt - 1));
      const gaps = gapsSeconds(times);
      expect(gaps).toHaveLength(delays.length);
      for (const [n, delay] of delays.entries()) {
        expect(gaps[n]).toBeGreaterThan(delay - 0.5);
        expect(gaps[n]).toBeLessThan(delay + 7); // on a busy machine
      }
    },
    90_000,
  );

  it.concurrent('makes every attempt once although each claim loses its answer', async () => {
    const { run, times, made } = await failingDelivery(losingClaims());
    const handle = await fixture.startWebhook(run.activities, 3);
    expect(await handle.result()).toEqual({ delivered: false });
    expect(await made()).toEqual([3, 4]);
    expect(times).toHaveLength(2);
    expect(gapsSeconds(times)[0]).toBeGreaterThan(30 - 0.5);
  }, 90_000);

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

  it.each([
    ['with the common slots', false, webhookQueue],
    ['with the slots for a backlog if its project has one', true, webhookBacklogQueue],
  ])('of a session is sent %s, and never fails it', async (_what, hasWebhookBacklog, queueOf) => {
    const run = fakeRun({
      endRun: async ({ cause }) => ({
        ...{ webhook: true, cause, hasUnstoredFiles: false },
        hasWebhookBacklog,
      }),
      deliverWebhook: async () => {
        throw ApplicationFailure.nonRetryable('blocked');
      },
    });
    const handle = await fixture.startSession(run.activities);
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls).toContain('dropWebhook');
    expect(await webhookQueueOf(handle)).toBe(queueOf(fixture.instance));
  });

  it.each([true, false])('of an endpoint is sent in its own workflow: %s', async (delivered) => {
    const run = fakeRun({
      deliverEvent: async () => {
        if (!delivered) throw ApplicationFailure.nonRetryable('blocked');
        return { status: 204 };
      },
    });
    const eventId = crypto.randomUUID();
    fixture.serve(eventId, run.activities);
    const handle = await fixture.client.workflow.start('eventWorkflow', {
      workflowId: `event/${eventId}/1`,
      taskQueue: runQueue(fixture.instance),
      args: [{ eventId, delivery: 0, instance: fixture.instance }],
    });
    expect(await handle.result()).toEqual({ delivered });
    expect(run.calls).toEqual(delivered ? ['deliverEvent'] : ['deliverEvent', 'dropEvent']);
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
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
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
