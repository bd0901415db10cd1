import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

async function causeOf(name: string): Promise<string> {
  const story: SessionStory | undefined = sessionStories()[name];
  if (!story) throw new Error(`there is no story ${name}`);
  const handle = await world.startSession(story.run.activities, story.input);
  await story.act(story.run, handle);
  return (await handle.result()).cause;
}
