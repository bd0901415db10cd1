import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeRun } from '../support/fake-run.ts';
import { type SessionStory, sessionStories } from '../support/session-stories.ts';
import { createWorkflowWorld, type WorkflowWorld } from '../support/workflow-world.ts';

let world: WorkflowWorld;
beforeAll(async () => {
  world = await createWorkflowWorld();
});
afterAll(() => world?.close());

describe("a session's workflow", () => {
  it.each(Object.entries(sessionStories()))('asks of the world what %s takes', async (_, story) => {
    const { run, input, act, calls } = story;
    const handle = await world.startSession(run.activities, input);
    await act(run, handle);
    await handle.result();
    expect(run.calls.sort(), 'beside each other they may come in either order').toEqual(
      [...calls].sort(),
    );
  });

  it('ends as what it was ended for', async () => {
    const causes = await Promise.all(
      ['session-stop', 'session-sleep', 'session-lost'].map((name) => causeOf(name)),
    );
    expect(causes).toEqual(['terminated_by_operator', 'timed_out', 'max_reconnects_exceeded']);
  });
});

it('waits for thirty days, asleep, until it ends for want of anybody who speaks to it', async () => {
  const handle = await world.startSession(fakeRun().activities);
  const silence = async () => {
    const { events } = await handle.fetchHistory();
    const timers = (events ?? []).flatMap(({ timerStartedEventAttributes: of }) => of ?? []);
    return timers.map(({ startToFireTimeout }) => Number(startToFireTimeout?.seconds));
  };
  await expect.poll(silence).toEqual([30 * 24 * 60 * 60]);
  await handle.signal('stop', { graceMs: 0 });
  await handle.result();
});

async function causeOf(name: string): Promise<string> {
  const story: SessionStory | undefined = sessionStories()[name];
  if (!story) throw new Error(`there is no story ${name}`);
  const handle = await world.startSession(story.run.activities, story.input);
  await story.act(story.run, handle);
  return (await handle.result()).cause;
}
