import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureTypes } from '../../../workflows/shared/activities.ts';
import { endOf } from '../../support/end-of-workflow.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { createWorkflowFixture, type WorkflowFixture } from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

describe('a run that cannot start', () => {
  it('reports the reason and removes the remains of the sandbox', async () => {
    const run = fakeRun({
      startSandbox: async () => {
        throw ApplicationFailure.nonRetryable('no such image', failureTypes.startFailed);
      },
      endRun: async ({ cause, detail }) => {
        expect(detail).toBe('no such image');
        return { webhook: false, cause, hasUnstoredFiles: false };
      },
    });
    const handle = await fixture.startRun(run.activities);
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'container_start_failed' });
    expect(run.calls).toEqual(['startSandbox', 'endRun', 'removeSandbox']);
  });

  it('fails with the last reason when every attempt fails until the timeout', async () => {
    const details: unknown[] = [];
    const run = fakeRun({
      startSandbox: async () => {
        throw ApplicationFailure.retryable('the engine is away', failureTypes.startFailed);
      },
      endRun: async ({ cause, detail }) => {
        details.push(detail);
        return { webhook: false, cause, hasUnstoredFiles: false };
      },
    });
    const handle = await fixture.startRun(run.activities, { timeouts: { startMs: 4_000 } });
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'container_start_failed' });
    expect(details).toEqual(['the engine is away']);
    expect(run.calls.filter((name) => name === 'startSandbox').length).toBeGreaterThan(1);
  });

  it('does not follow a run that ended before its sandbox started', async () => {
    const run = fakeRun({
      startSandbox: async () => ({ outcome: 'cancelled' }),
      endRun: async () => ({ webhook: false, cause: 'deleted_by_api', hasUnstoredFiles: false }),
    });
    const handle = await fixture.startRun(run.activities);
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'deleted_by_api' });
    expect(run.calls).toEqual(['startSandbox', 'endRun', 'removeSandbox', 'cancelWorkflow']);
  });

  it('fails if no slot becomes free in time', async () => {
    const details: unknown[] = [];
    const run = fakeRun({
      claimSlot: everyHostFull,
      endRun: async ({ cause, detail }) => {
        details.push(detail);
        return { webhook: false, cause, hasUnstoredFiles: false };
      },
    });
    const handle = await fixture.startRun(run.activities, {
      hostId: null,
      timeouts: { noCapacityMs: 1_000 },
    });
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'container_start_failed' });
    expect(details).toEqual(['no capacity']);
    expect(run.calls).toEqual(['claimSlot', 'claimSlot', 'endRun']);
  });

  it('claims again only when it is notified, and starts on the assigned slot', async () => {
    const answers = [null, null, { hostId: fixture.hostId, generation: 1 }];
    const run = fakeRun({ claimSlot: async () => answers.shift() ?? null });
    const handle = await fixture.startRun(run.activities, { hostId: null });
    for (const claims of [1, 2]) {
      await expect.poll(() => run.calls.length, { timeout: 10_000 }).toBe(claims);
      await handle.signal('slotAssigned');
    }
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    const ended = ['startSandbox', 'followRun', 'snapshotWorkspace', 'endRun', 'removeSandbox'];
    expect(run.calls).toEqual(['claimSlot', 'claimSlot', 'claimSlot', ...ended]);
  });

  it('starts at the timeout on a slot whose notification was lost', async () => {
    const answers = [null, { hostId: fixture.hostId, generation: 1 }];
    const run = fakeRun({ claimSlot: async () => answers.shift() ?? null });
    const input = { hostId: null, timeouts: { noCapacityMs: 1_000 } };
    const handle = await fixture.startRun(run.activities, input);
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
  });

  it('can be stopped while it waits for a slot', async () => {
    const run = fakeRun({ claimSlot: everyHostFull });
    const handle = await fixture.startRun(run.activities, { hostId: null });
    await run.called('claimSlot');
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'cancelWorkflow']);
  });
});

describe('a host that leaves before it starts the sandbox', () => {
  const leaving = () => ({ hostId: `leaving-${randomUUID()}` });
  const followed = ['startSandbox', 'followRun', 'snapshotWorkspace', 'endRun', 'removeSandbox'];

  it('leaves the run to another host, under the next generation', async () => {
    const generations: number[] = [];
    const run = fakeRun({
      claimSlot: async ({ after }) => ({ hostId: fixture.hostId, generation: after + 1 }),
      startSandbox: async ({ generation }) => {
        generations.push(generation);
        return { outcome: 'started' };
      },
    });
    const handle = await fixture.startRun(run.activities, leaving());
    await handle.signal('hostLost', { generation: 1 });
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls).toEqual(['claimSlot', ...followed]);
    expect(generations).toEqual([2]);
  });

  it('keeps a run that may not move, and starts it when it is back', async () => {
    const run = fakeRun({
      claimSlot: async () => ({ hostId: fixture.hostId, generation: 1 }),
      startSandbox: async () => {
        if (run.calls.filter((name) => name === 'startSandbox').length > 1)
          return { outcome: 'started' };
        return new Promise(() => undefined);
      },
    });
    const handle = await fixture.startRun(run.activities);
    await run.called('startSandbox');
    await handle.signal('hostLost', { generation: 1 });
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls).toEqual(['startSandbox', 'claimSlot', ...followed]);
  });

  it('reports that the run has moved, and the workflow follows it', async () => {
    const run = fakeRun({
      startSandbox: async ({ generation }) => ({
        outcome: generation === 1 ? 'superseded' : 'started',
      }),
    });
    const handle = await fixture.startRun(run.activities);
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls).toEqual(['startSandbox', 'claimSlot', ...followed]);
  });

  it('keeps a run that it has started', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities);
    await run.called('followRun');
    await handle.signal('hostLost', { generation: 1, ifUnstarted: true });
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls).toEqual(followed);
  });

  it('does not delay a stop while the run waits for another host', async () => {
    const run = fakeRun({ claimSlot: everyHostFull });
    const handle = await fixture.startRun(run.activities, leaving());
    await handle.signal('hostLost', { generation: 1 });
    await run.called('claimSlot');
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'cancelWorkflow']);
  });
});

describe('an unresponsive host', () => {
  const deadHost = () => ({
    hostId: `dead-${randomUUID()}`,
    timeouts: { hostScheduleToStartMs: 1_000 },
  });

  it('ends a run that may not move as max_reconnects_exceeded', async () => {
    const host = deadHost();
    const run = fakeRun({ claimSlot: async () => ({ hostId: host.hostId, generation: 1 }) });
    const handle = await fixture.startRun(run.activities, host);
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'max_reconnects_exceeded' });
    expect(run.calls).toEqual(['claimSlot', 'endRun']);
  });

  it('leaves a run that may move to another host', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities, deadHost());
    run.end({});
    expect(await endOf(handle)).toEqual({ status: 'COMPLETED', cause: 'completed' });
    expect(run.calls.slice(0, 2)).toEqual(['claimSlot', 'startSandbox']);
  });

  it('does not delay a stop', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities, deadHost());
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'cancelWorkflow']);
  });

  it('ends the run when its sandbox is lost', async () => {
    const run = fakeRun({
      followRun: async () => {
        throw ApplicationFailure.nonRetryable('gone', 'SandboxLost');
      },
    });
    const handle = await fixture.startRun(run.activities);
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'max_reconnects_exceeded' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'removeSandbox']);
  });
});

const everyHostFull = async (): Promise<null> => null;
