// How a workflow closes after its run has ended, as Temporal shows it.

import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EndCause, endCauses } from '../../../core/runs/end-cause.ts';
import { runQueue } from '../../../core/temporal/task-queues.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import { endOf, failureOf } from '../../support/end-of-workflow.ts';
import { type FakeRun, fakeRun } from '../../support/fake-run.ts';
import { createWorkflowFixture, type WorkflowFixture } from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

const endingAs = (cause: EndCause, webhook = false): FakeRun =>
  fakeRun({
    followRun: async () => ({ cause, detail: null, exitCode: null }),
    endRun: async () => ({ webhook, cause, hasUnstoredFiles: false }),
  });

const expectedStatus: Record<EndCause, string> = {
  completed: 'COMPLETED',
  exited: 'FAILED',
  stopped_by_api: 'CANCELLED',
  deleted_by_api: 'CANCELLED',
  interrupted_by_api: 'CANCELLED',
  terminated_by_operator: 'CANCELLED',
  max_reconnects_exceeded: 'FAILED',
  container_start_failed: 'FAILED',
  out_of_memory: 'FAILED',
  timed_out: 'FAILED',
  stalled: 'FAILED',
  hung_after_result: 'FAILED',
  no_result: 'FAILED',
  budget_exceeded: 'FAILED',
  max_turns_exceeded: 'FAILED',
  disk_full: 'FAILED',
  output_tampered: 'FAILED',
  lost_in_restore: 'FAILED',
};

describe('the workflow of a run', () => {
  it('closes as the run has ended, with every end cause', async () => {
    const ends = await Promise.all(
      endCauses.map(async (cause) => endOf(await fixture.startRun(endingAs(cause).activities))),
    );
    expect(ends).toEqual(endCauses.map((cause) => ({ status: expectedStatus[cause], cause })));
  });

  it('fails with the cause as its type and the error of the run record, without a retry', async () => {
    const end = { cause: 'exited', detail: null, exitCode: 3 } as const;
    const handle = await fixture.startRun(fakeRun({ followRun: async () => end }).activities);
    const failure = await failureOf(handle);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      ...{ type: 'exited', message: 'the run ended: Process exited with code 3' },
      ...{ nonRetryable: true, category: 'BENIGN' },
    });
    const { events } = await handle.fetchHistory();
    expect(events?.[0]?.workflowExecutionStartedEventAttributes?.attempt).toBe(1);
    expect(events?.at(-1)?.workflowExecutionFailedEventAttributes?.newExecutionRunId).toBe('');
  });

  it.each(['timed_out', 'stopped_by_api'] as const)(
    'delivers the webhook and cleans up before it closes after %s',
    async (cause) => {
      const run = endingAs(cause, true);
      await failureOf(await fixture.startRun(run.activities));
      expect(run.calls).toEqual(
        expect.arrayContaining(['endRun', 'deliverWebhook', 'removeSandbox']),
      );
    },
  );

  it('closes as cancelled although the answer to its request was lost', async () => {
    let requests = 0;
    const run = fakeRun({
      ...endingAs('stopped_by_api').activities,
      cancelWorkflow: async ({ workflowId }) => {
        requests += 1;
        await fixture.client.workflow.getHandle(workflowId).cancel();
        if (requests === 1) throw ApplicationFailure.retryable('the answer is lost');
      },
    });
    const handle = await fixture.startRun(run.activities);
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'stopped_by_api' });
    expect(requests).toBe(2);
  });

  it('fails with the cause of its end if it cannot be cancelled within a minute', async () => {
    const run = fakeRun({
      ...endingAs('stopped_by_api').activities,
      cancelWorkflow: () => Promise.reject(ApplicationFailure.nonRetryable('no permission')),
    });
    const handle = await fixture.startRun(run.activities);
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'stopped_by_api' });
    expect(await failureOf(handle)).toMatchObject({
      ...{ type: 'stopped_by_api', message: 'the run ended: stopped_by_api', category: 'BENIGN' },
    });
    const { events } = await handle.fetchHistory();
    const scheduled = events?.map((event) => event.activityTaskScheduledEventAttributes);
    const request = scheduled?.find((one) => one?.activityType?.name === 'cancelWorkflow');
    expect(request?.scheduleToCloseTimeout?.seconds?.toString()).toBe('60');
  });

  it.each([
    ['completed', 'COMPLETED'],
    ['disk_full', 'FAILED'],
  ] as const)('is not changed by a cancellation after its run has ended as %s', async (...end) => {
    const [cause, status] = end;
    const removed = createDeferred<true>();
    const run = fakeRun({
      ...endingAs(cause).activities,
      removeSandbox: async () => void (await removed.promise),
    });
    const handle = await fixture.startRun(run.activities);
    await run.called('removeSandbox');
    await handle.cancel();
    removed.resolve(true);
    expect(await endOf(handle)).toEqual({ status, cause });
  });

  it.each([
    ['no search attributes', []],
    ['those of an earlier version', ['RunStatus']],
  ])('closes with %s of its start', async (_what, names) => {
    const runId = crypto.randomUUID();
    fixture.serve(runId, endingAs('disk_full').activities);
    const { instance, hostId } = fixture;
    const ids = { runId, projectId: 'project-1', flowId: runId };
    const handle = await fixture.client.workflow.start('runWorkflow', {
      workflowId: `run/${runId}`,
      taskQueue: runQueue(instance),
      args: [{ ...ids, instance, hostId, generation: 1, timeouts: {} }],
      searchAttributes: Object.fromEntries(names.map((name) => [name, ['running']])),
    });
    expect(await endOf(handle)).toEqual({ status: 'FAILED' });
  });
});
