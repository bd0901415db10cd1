import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionSlot } from '../../../core/sessions/session-slot.ts';
import type { TurnOutcome } from '../../../workflows/shared/activities.ts';
import { endOf, failureOf } from '../../support/end-of-workflow.ts';
import { fakeRun } from '../../support/fake-run.ts';
import { asleepAfter } from '../../support/fake-session.ts';
import { type SessionStory, sessionStories } from '../../support/session-stories.ts';
import { createWorkflowFixture, type WorkflowFixture } from '../../support/workflow-fixture.ts';

let fixture: WorkflowFixture;
beforeAll(async () => {
  fixture = await createWorkflowFixture();
});
afterAll(() => fixture?.close());

describe("a session's workflow", () => {
  // Each story waits for its own timers.
  it.concurrent.each(Object.entries(sessionStories()))(
    'calls the expected activities in %s',
    async (_, story) => {
      const { run, input, act, calls } = story;
      const handle = await fixture.startSession(run.activities, input);
      await act(run, handle);
      await endOf(handle);
      expect(run.calls.sort(), 'concurrent calls may come in either order').toEqual(
        [...calls].sort(),
      );
    },
  );

  it('closes as its session has ended', async () => {
    const names = ['session-stop', 'session-sleep', 'session-lost'];
    expect(await Promise.all(names.map(endOfStory))).toEqual([
      { status: 'CANCELLED', cause: 'terminated_by_operator' },
      { status: 'FAILED', cause: 'timed_out' },
      { status: 'FAILED', cause: 'max_reconnects_exceeded' },
    ]);
  });
});

it('resets the count of consecutive losses after each finished turn', async () => {
  const done: TurnOutcome = { outcome: 'done', more: true };
  const lost: TurnOutcome = { outcome: 'sandbox_ended' };
  const { activities } = asleepAfter([lost, lost, done, lost, lost, done, lost, done]);
  const timeouts = { idleMs: 200, inactivityMs: 1_000 };
  const handle = await fixture.startSession(activities, { timeouts });
  await handle.signal('message', { messageId: 'm-1' });
  expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'timed_out' });
});

it('drops a sleep signal that arrives while the session is asleep', async () => {
  const run = fakeRun();
  const handle = await fixture.startSession(run.activities);
  await handle.signal('sleep');
  // The answer to the query means that the signal was processed.
  await handle.query('__stack_trace');
  await handle.signal('message', { messageId: 'm-1' });
  await run.called('runTurn');
  await handle.query('__stack_trace');
  await handle.signal('message', { messageId: 'm-2' });
  const turns = () => run.calls.filter((name) => name === 'runTurn').length;
  await expect.poll(turns).toBe(2);
  expect(run.calls).not.toContain('stopSandbox');
  await handle.signal('stop', { graceMs: 0 });
  await endOf(handle);
});

it('wakes up for a message without a signal that arrived while it went to sleep', async () => {
  let claims = 0;
  const run = fakeRun({
    async claimSessionSlot(): Promise<SessionSlot> {
      claims += 1;
      if (claims > 3) return { outcome: 'no_work' };
      return { outcome: 'assigned', hostId: 'host-1', generation: claims === 1 ? 1 : 2 };
    },
    getSessionIdleness: async () => ({ idleForMs: 1_000_000, unattendedForMs: null }),
  });
  const timeouts = { idleMs: 200, inactivityMs: 1_000 };
  const handle = await fixture.startSession(run.activities, { timeouts });
  await handle.signal('message', { messageId: 'm-1' });
  expect(await endOf(handle)).toEqual({ status: 'FAILED', cause: 'timed_out' });
  expect(run.calls.filter((name) => name === 'runTurn')).toHaveLength(2);
});

it('passes each signalled message to the host once', async () => {
  const turns: (string[] | undefined)[] = [];
  const run = fakeRun({
    async runTurn({ messageIds }) {
      turns.push(messageIds);
      return { outcome: 'done', more: turns.length === 1 };
    },
  });
  const handle = await fixture.startSession(run.activities);
  await handle.signal('message', { messageId: 'm-1' });
  await expect.poll(() => turns).toEqual([['m-1'], []]);
  await handle.signal('message');
  await expect.poll(() => turns).toEqual([['m-1'], [], ['']]);
  await handle.signal('stop', { graceMs: 0 });
  await failureOf(handle);
});

it('ends a sleeping session after thirty days without a message', async () => {
  const handle = await fixture.startSession(fakeRun().activities);
  const timers = async () => {
    const { events } = await handle.fetchHistory();
    const started = (events ?? []).flatMap(({ timerStartedEventAttributes: of }) => of ?? []);
    return started.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds));
  };
  await expect.poll(timers).toEqual([30 * 24 * 60 * 60]);
  await handle.signal('stop', { graceMs: 0 });
  await endOf(handle);
});

async function endOfStory(name: string) {
  const story: SessionStory | undefined = sessionStories()[name];
  if (!story) throw new Error(`there is no story ${name}`);
  const handle = await fixture.startSession(story.run.activities, story.input);
  await story.act(story.run, handle);
  return endOf(handle);
}
