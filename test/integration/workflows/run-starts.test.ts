import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/activity';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failureTypes } from '../../../workflows/shared/activities.ts';
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
        return { webhook: false, cause };
      },
    });
    const handle = await fixture.startRun(run.activities);
    expect(await handle.result()).toEqual({ cause: 'container_start_failed' });
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
        return { webhook: false, cause };
      },
    });
    const handle = await fixture.startRun(run.activities, { timeouts: { startMs: 4_000 } });
    expect(await handle.result()).toEqual({ cause: 'container_start_failed' });
    expect(details).toEqual(['the engine is away']);
    expect(run.calls.filter((name) => name === 'startSandbox').length).toBeGreaterThan(1);
  });

  it('does not follow a run that ended before its sandbox started', async () => {
    const run = fakeRun({
      startSandbox: async () => ({ outcome: 'cancelled' }),
      endRun: async () => ({ webhook: false, cause: 'deleted_by_api' }),
    });
    const handle = await fixture.startRun(run.activities);
    expect(await handle.result()).toEqual({ cause: 'deleted_by_api' });
    expect(run.calls).toEqual(['startSandbox', 'endRun', 'removeSandbox']);
  });

  it('fails if no slot becomes free in time', async () => {
    const details: unknown[] = [];
    const run = fakeRun({
      claimSlot: everyHostFull,
      endRun: async ({ cause, detail }) => {
        details.push(detail);
        return { webhook: false, cause };
      },
    });
    const handle = await fixture.startRun(run.activities, {
      hostId: null,
      timeouts: { noCapacityMs: 3_000, slotPollMs: 200 },
    });
    expect(await handle.result()).toEqual({ cause: 'container_start_failed' });
    expect(details).toEqual(['no capacity']);
    expect(run.calls.filter((name) => name === 'claimSlot').length).toBeGreaterThan(1);
    expect(run.calls).not.toContain('startSandbox');
  });

  it('starts when a slot becomes free', async () => {
    const answers = [everyHostFull, everyHostFull, async () => ({ hostId: fixture.hostId })];
    const run = fakeRun({ claimSlot: () => (answers.shift() ?? everyHostFull)() });
    const handle = await fixture.startRun(run.activities, {
      hostId: null,
      timeouts: { slotPollMs: 100 },
    });
    run.end({});
    expect(await handle.result()).toEqual({ cause: 'completed' });
  });

  it('can be stopped while it waits for a slot', async () => {
    const run = fakeRun({ claimSlot: everyHostFull });
    const handle = await fixture.startRun(run.activities, { hostId: null });
    await run.called('claimSlot');
    await handle.signal('stop', { graceMs: 0 });
    expect(await handle.result()).toEqual({ cause: 'terminated_by_operator' });
    expect(run.calls.slice(-1)).toEqual(['endRun']);
  });
});

describe('an unresponsive host', () => {
  const deadHost = () => ({
    hostId: `dead-${randomUUID()}`,
    timeouts: { hostScheduleToStartMs: 1_000 },
  });

  it('ends the run as max_reconnects_exceeded', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities, deadHost());
    expect(await handle.result()).toEqual({ cause: 'max_reconnects_exceeded' });
    expect(run.calls).toEqual(['endRun']);
  });

  it('does not delay a stop', async () => {
    const run = fakeRun();
    const handle = await fixture.startRun(run.activities, deadHost());
    await handle.signal('stop', { graceMs: 0 });
    expect(await handle.result()).toMatchObject({ cause: expect.any(String) });
    expect(run.calls.slice(-1)).toEqual(['endRun']);
  });

  it('ends the run when its sandbox is lost', async () => {
    const run = fakeRun({
      followRun: async () => {
        throw ApplicationFailure.nonRetryable('gone', 'SandboxLost');
      },
    });
    const handle = await fixture.startRun(run.activities);
    expect(await handle.result()).toEqual({ cause: 'max_reconnects_exceeded' });
    expect(run.calls.slice(-2)).toEqual(['endRun', 'removeSandbox']);
  });
});

async function everyHostFull(): Promise<never> {
  throw ApplicationFailure.retryable('every host is full', failureTypes.noCapacity);
}
