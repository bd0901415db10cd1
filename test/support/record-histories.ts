// Records the histories that test/unit/workflows/replay.test.ts replays, against the test stack:
// `node test/support/record-histories.ts [PREFIX…]`. With prefixes, only matching histories are
// recorded. record-real-histories.ts records those of the whole service.

import { ApplicationFailure } from '@temporalio/activity';
import { failureTypes } from '../../workflows/shared/activities.ts';
import type { RunInput } from '../../workflows/shared/inputs.ts';
import { failureOf } from './end-of-workflow.ts';
import { type FakeRun, fakeRun } from './fake-run.ts';
import { keepHistory } from './keep-history.ts';
import { sessionStories } from './session-stories.ts';
import { createWorkflowFixture, type RunHandle } from './workflow-fixture.ts';

interface Story {
  run: FakeRun;
  input?: Partial<RunInput>;
  act(run: FakeRun, handle: RunHandle): Promise<void>;
}

const fixture = await createWorkflowFixture('recorded');
for (const [name, { run, input, act }] of Object.entries(stories())) {
  if (!isSelected(name)) continue;
  const handle = await fixture.startRun(run.activities, input);
  await act(run, handle);
  await failureOf(handle);
  await keepHistory(name, handle);
}
if (isSelected('scheduled-trigger')) {
  const scheduled = await fixture.startScheduled(fakeRun().activities);
  await scheduled.result();
  await keepHistory('scheduled-trigger', scheduled);
}
for (const [name, { run, input, act }] of Object.entries(sessionStories())) {
  if (!isSelected(name)) continue;
  const handle = await fixture.startSession(run.activities, input);
  await act(run, handle);
  await failureOf(handle);
  await keepHistory(
    name,
    fixture.client.workflow.getHandle(handle.workflowId, handle.firstExecutionRunId),
  );
  if (name === 'session-continued') await keepHistory(`${name}-to`, handle);
}
await fixture.close();

function isSelected(name: string): boolean {
  const prefixes = process.argv.slice(2);
  return prefixes.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
}

function stories(): Record<string, Story> {
  return {
    success: { run: fakeRun(), act: async (run) => run.end({}) },
    'failed-exit': {
      run: fakeRun(),
      act: async (run) => run.end({ cause: 'exited', exitCode: 1 }),
    },
    stop: { run: fakeRun(), act: stop },
    cancel: { run: fakeRun(), act: cancel },
    'time-limit': { run: fakeRun(), input: { timeouts: { runMs: 500 } }, act: async () => {} },
    delete: {
      run: fakeRun({
        followRun: async () => ({ cause: 'deleted_by_api', detail: null, exitCode: 143 }),
      }),
      act: async () => {},
    },
    'sandbox-lost': {
      run: fakeRun({
        followRun: async () => fail('the sandbox is gone', 'SandboxLost'),
      }),
      act: async () => {},
    },
    'host-lost': {
      run: fakeRun({ claimSlot: async () => ({ hostId: 'lost-host', generation: 1 }) }),
      input: { hostId: 'lost-host', timeouts: { hostScheduleToStartMs: 500 } },
      act: async () => {},
    },
    moved: {
      run: fakeRun(),
      input: { hostId: 'leaving-host' },
      async act(run, handle) {
        await handle.signal('hostLost', { generation: 1, ifUnstarted: true });
        run.end({});
      },
    },
    'start-failed': {
      run: fakeRun({ startSandbox: async () => fail('no such image', failureTypes.startFailed) }),
      act: async () => {},
    },
    'no-capacity': {
      run: fakeRun({ claimSlot: async () => null }),
      input: { hostId: null, timeouts: { noCapacityMs: 500 } },
      act: async () => {},
    },
    'slot-assigned': {
      run: assignedLater(),
      input: { hostId: null },
      async act(run, handle) {
        await run.called('claimSlot');
        await handle.signal('slotAssigned');
        run.end({});
      },
    },
    'webhook-retried': { run: webhookRetried(), act: async (run) => run.end({}) },
  };
}

async function stop(run: FakeRun, handle: RunHandle): Promise<void> {
  await run.called('followRun');
  await handle.signal('stop', { graceMs: 1_000 });
}

async function cancel(run: FakeRun, handle: RunHandle): Promise<void> {
  await run.called('followRun');
  await handle.cancel();
}

function assignedLater(): FakeRun {
  const answers = [null, { hostId: 'host-1', generation: 1 }];
  return fakeRun({ claimSlot: async () => answers.shift() ?? null });
}

function webhookRetried(): FakeRun {
  const answers = [500, 204];
  return fakeRun({
    endRun: async ({ cause }) => ({ webhook: true, cause, hasUnstoredFiles: false }),
    deliverWebhook: async () => {
      const status = answers.shift() ?? 204;
      if (status !== 204) throw ApplicationFailure.retryable('the receiver answered 500');
      return { status };
    },
  });
}

function fail(message: string, type: string): never {
  throw ApplicationFailure.nonRetryable(message, type);
}
