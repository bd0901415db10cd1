import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Activities } from '../../../workflows/shared/activities.ts';
import { endOf } from '../../support/end-of-workflow.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { createWorkflowFixture, type WorkflowFixture } from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

describe('a run whose agent ends', () => {
  it('starts, follows, snapshots, ends and removes, in this order', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities);
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls).toEqual([
      'startSandbox',
      'followRun',
      'snapshotWorkspace',
      'endRun',
      'removeSandbox',
    ]);
  });

  it('passes the exit code of a failing agent to the end of the run', async () => {
    const ends: unknown[] = [];
    const run = fakeRun({
      endRun: async (input) => {
        ends.push(input);
        return { webhook: false, cause: input.cause, hasUnstoredFiles: false };
      },
    });
    const handle = await fixture.startRun(run.activities);
    run.end({ cause: 'exited', exitCode: 7 });
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'exited' });
    expect(ends).toMatchObject([{ cause: 'exited', exitCode: 7 }]);
  });

  it.each([
    ['ends even if its workspace cannot be stored, and keeps the folders', false],
    ['removes the folders if its workspace was stored', true],
  ])('%s', async (_, filesStored) => {
    const inputs: unknown[] = [];
    const run = fakeRun({
      snapshotWorkspace: async () => {
        if (filesStored) return { files: 1, skipped: 0 };
        throw ApplicationFailure.nonRetryable('disk is gone');
      },
      endRun: async (input) => {
        inputs.push(input);
        return { webhook: false, cause: input.cause, hasUnstoredFiles: !filesStored };
      },
      removeSandbox: async (input) => void inputs.push(input),
    });
    const handle = await fixture.startRun(run.activities);
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'removeSandbox']);
    expect(inputs).toMatchObject([{ filesStored }, { keepFolders: !filesStored }]);
  });

  it('delivers the webhook that endRun has claimed', async () => {
    const run = fakeRun({
      endRun: async ({ cause }) => ({ webhook: true, cause, hasUnstoredFiles: false }),
    });
    const handle = await fixture.startRun(run.activities);
    run.end({});
    await endOf(handle);
    expect(run.calls).toContain('deliverWebhook');
    expect(run.calls).not.toContain('dropWebhook');
  });
});

describe('a run that is stopped', () => {
  it('records the cause before it stops the sandbox, and waits for the last output', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities);
    await run.called('followRun');
    await handle.signal('stop', { graceMs: 500 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls).toEqual([
      'startSandbox',
      'followRun',
      'recordCause',
      'stopSandbox',
      'snapshotWorkspace',
      'endRun',
      'removeSandbox',
      'cancelWorkflow',
    ]);
  });

  it('keeps the cause that was recorded with the request', async () => {
    const run = fakeRun({
      recordCause: async () => {},
      endRun: async () => ({ webhook: false, cause: 'stopped_by_api', hasUnstoredFiles: false }),
    });
    const handle = await fixture.startRun(run.activities);
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'stopped_by_api' });
  });

  it('stores no workspace of a deleted run', async () => {
    const run = fakeRun({
      followRun: async () => ({ cause: 'deleted_by_api', detail: null, exitCode: 143 }),
    });
    const handle = await fixture.startRun(run.activities);
    await endOf(handle);
    expect(run.calls).not.toContain('snapshotWorkspace');
    expect(run.calls).toContain('removeSandbox');
  });

  it('treats a cancellation as a stop request and cleans up', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities);
    await run.called('followRun');
    await handle.cancel();
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls).toContain('stopSandbox');
    expect(run.calls.slice(-2)).toEqual(['endRun', 'removeSandbox']);
  });

  it('is stopped by a signal without a payload', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities);
    await handle.signal('stop');
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
  });

  it('is stopped at its time limit', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities, { timeouts: { runMs: 300 } });
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'timed_out' });
    expect(run.calls).toContain('stopSandbox');
  });

  it('is stopped once when stop, cancellation and time limit come together', async () => {
    const delayed = delayedEnd();
    const run = fakeRun(delayed.activities);
    const handle = await fixture.startRun(run.activities, { timeouts: { runMs: 1_000 } });
    await run.called('followRun');
    await Promise.all([
      handle.signal('stop', { graceMs: 0 }),
      handle.signal('stop', { graceMs: 0 }),
      handle.cancel(),
    ]);
    delayed.letEnd();
    await endOf(handle);
    expect(run.calls.filter((name) => name === 'stopSandbox')).toHaveLength(1);
    expect(run.calls.filter((name) => name === 'endRun')).toHaveLength(1);
  });

  it('ends once when the agent ends while it is being stopped', async () => {
    const delayed = delayedEnd();
    const run = fakeRun(delayed.activities);
    const handle = await fixture.startRun(run.activities);
    await run.called('followRun');
    const signalled = handle.signal('stop', { graceMs: 0 });
    run.end({});
    await signalled;
    delayed.letEnd();
    await endOf(handle);
    expect(run.calls.filter((name) => name === 'endRun')).toHaveLength(1);
    expect(run.calls.filter((name) => name === 'removeSandbox')).toHaveLength(1);
  });
});

/** endRun blocks until `letEnd`, so every signal arrives before the end. */
function delayedEnd(): { activities: Pick<Activities, 'endRun'>; letEnd(): void } {
  let letEnd = (): void => {};
  const mayEnd = new Promise<void>((resolve) => {
    letEnd = resolve;
  });
  const endRun: Activities['endRun'] = async ({ cause }) => {
    await mayEnd;
    return { webhook: false, cause, hasUnstoredFiles: false };
  };
  return { activities: { endRun }, letEnd: () => letEnd() };
}
