// When a session continues as new, and what the next history starts with.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../../core/limits.ts';
import type { SessionSlot } from '../../../core/sessions/session-slot.ts';
import { createDeferred } from '../../../lib/async/deferred.ts';
import type { TurnOutcome } from '../../../workflows/shared/activities.ts';
import { endOf } from '../../support/end-of-workflow.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { sessionStories } from '../../support/session-stories.ts';
import {
  createWorkflowFixture,
  type SessionHandle,
  type WorkflowFixture,
} from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

/** The scheduled and completed activities of a session's first history, in order. */
async function firstHistory({ workflowId, firstExecutionRunId }: SessionHandle): Promise<string[]> {
  const first = fixture.client.workflow.getHandle(workflowId, firstExecutionRunId);
  const names = new Map<string, string>();
  const { events } = await first.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes?.activityType?.name;
    if (scheduled) names.set(String(event.eventId), scheduled);
    const done = event.activityTaskCompletedEventAttributes?.scheduledEventId;
    if (done) return [`${names.get(String(done)) ?? ''} done`];
    if (event.workflowExecutionContinuedAsNewEventAttributes) return ['continued as new'];
    return scheduled ? [scheduled] : [];
  });
}

async function firstHistoryOf(name: string): Promise<string[]> {
  const story = sessionStories()[name];
  if (!story) throw new Error(`there is no story ${name}`);
  const handle = await fixture.startSession(story.run.activities, story.input);
  await story.act(story.run, handle);
  await endOf(handle);
  return firstHistory(handle);
}

const countOf = (history: string[], what: string): number =>
  history.filter((each) => each === what).length;

describe('a session continues as new', () => {
  it('between two turns, after the configured number of turns', async () => {
    const history = await firstHistoryOf('session-continued');
    expect(countOf(history, 'runTurn done')).toBe(2);
    expect(countOf(history, 'runTurn')).toBe(2);
    expect(history.at(-1)).toBe('continued as new');
  });

  it('only after the earlier sandbox is removed', async () => {
    const history = await firstHistoryOf('session-removed-late');
    expect(history.at(-1)).toBe('continued as new');
    expect(countOf(history, 'runTurn done'), 'a turn runs meanwhile').toBe(2);
    expect(countOf(history, 'removeSandbox done')).toBe(countOf(history, 'removeSandbox'));
    expect(countOf(history, 'removeSandbox')).toBeGreaterThan(0);
  });

  it('without the sandbox whose host is lost', async () => {
    const removed = createDeferred<true>();
    const outcomes: TurnOutcome[] = [
      { outcome: 'reconfigure' },
      { outcome: 'done', more: false },
      { outcome: 'done', more: false },
    ];
    const turns: number[] = [];
    const run = fakeRun({
      claimSessionSlot: async ({ after }): Promise<SessionSlot> => {
        const generation = after + 1;
        return { outcome: 'assigned', hostId: fixture.hostId, generation };
      },
      async runTurn({ generation }) {
        turns.push(generation);
        return outcomes.shift() ?? { outcome: 'sandbox_ended' };
      },
      removeSandbox: async ({ generation }) => {
        if (generation === 1) await removed.promise;
      },
    });
    const input = { timeouts: { turnsPerHistory: 1, idleMs: 200 } };
    const handle = await fixture.startSession(run.activities, input);
    await handle.signal('message', { messageId: 'm-1' });
    // The session is idle in its second sandbox. Only the removal delays continue-as-new.
    await run.called('getSessionIdleness');
    removed.resolve(true);
    await expect.poll(() => firstHistory(handle)).toContain('removeSandbox done');
    // The answer to the query means that the completion was processed.
    await handle.query('__stack_trace');
    await handle.signal('hostLost', { generation: 2 });
    await expect.poll(() => turns).toEqual([1, 2, 3]);
    expect((await firstHistory(handle)).at(-1)).toBe('continued as new');
    await handle.signal('stop', { graceMs: 0 });
    expect(await endOf(handle)).toEqual({ status: 'CANCELLED', cause: 'terminated_by_operator' });
  });

  it('only after an interrupted turn has ended, even if its host was lost', async () => {
    const ends: ((outcome: TurnOutcome) => void)[] = [];
    const interrupted: unknown[] = [];
    const run = fakeRun({
      claimSessionSlot: async ({ after }): Promise<SessionSlot> => {
        return { outcome: 'assigned', hostId: fixture.hostId, generation: after + 1 };
      },
      runTurn: () => new Promise((end) => ends.push(end)),
      interruptTurn: async ({ generation, messageId }) =>
        void interrupted.push({ generation, messageId }),
    });
    const handle = await fixture.startSession(run.activities, { timeouts: { turnsPerHistory: 1 } });
    await handle.signal('message', { messageId: 'm-1' });
    await expect.poll(() => ends).toHaveLength(1);
    await handle.signal('interrupt', { messageId: 'm-1' });
    await expect.poll(() => interrupted).toHaveLength(1);
    await handle.signal('hostLost', { generation: 1 });
    await expect.poll(() => ends).toHaveLength(2);
    await expect.poll(() => interrupted).toHaveLength(2);
    expect(interrupted).toEqual([1, 2].map((generation) => ({ generation, messageId: 'm-1' })));
    expect(await firstHistory(handle)).not.toContain('continued as new');
    ends[1]?.({ outcome: 'done', more: false });
    await expect.poll(() => firstHistory(handle)).toContain('continued as new');
    await handle.signal('stop', { graceMs: 0 });
    ends[0]?.({ outcome: 'sandbox_ended' });
    await endOf(handle);
  });

  it('with the count of consecutive sandbox losses', async () => {
    const ends: ((outcome: TurnOutcome) => void)[] = [];
    const run = fakeRun({
      claimSessionSlot: async ({ after }): Promise<SessionSlot> => {
        return { outcome: 'assigned', hostId: fixture.hostId, generation: after + 1 };
      },
      runTurn: () => new Promise((end) => ends.push(end)),
    });
    const handle = await fixture.startSession(run.activities, { timeouts: { turnsPerHistory: 1 } });
    await handle.signal('message', { messageId: 'm-1' });
    for (let generation = 1; generation <= limits.session.crashesMax; generation += 1) {
      await expect.poll(() => ends).toHaveLength(generation);
      await handle.signal('hostLost', { generation });
    }
    expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'max_reconnects_exceeded' });
    expect((await firstHistory(handle)).at(-1)).toBe('continued as new');
    for (const end of ends) end({ outcome: 'sandbox_ended' });
  });
});
