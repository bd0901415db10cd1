import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { asking, colour, questionsOf } from '../support/questions.ts';
import { endSession, untilAsleep } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { statusesOf } from '../support/stream-story.ts';

const stallMs = 5_000;
/** Each much shorter than the wait of a question here. */
const sessionTimes = {
  SESSION_PAUSE_AFTER_MS: '300',
  SESSION_IDLE_MS: '2000',
  SESSION_ATTENDED_IDLE_MS: '2000',
  RECONCILE_EVERY_MS: '1000',
};

describe('with the scripted agent', { timeout: 180_000 }, () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ env: sessionTimes });
  }, 240_000);
  afterAll(() => service?.stop());

  const { pending, untilAsked, answer } = questionsOf(() => service);

  it('an answer given while the host is down reaches the agent when it is back', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour]) });
    const [question] = await untilAsked(runId);
    await service.worker.kill('SIGKILL');
    const body = { 'Which colour?': 'Blue' };
    expect(await answer(runId, question?.interactionId ?? '', body)).toMatchObject({ status: 200 });
    await service.worker.start();
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
  });

  it('a question outlasts a restart of its host, in a session too, which neither pauses nor sleeps', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour]) });
    const chat = await openConversation(service);
    const message = await chat.send(asking([colour]));
    const runs = [runId, chat.runId];
    const ids = await Promise.all(
      runs.map(async (run) => (await untilAsked(run))[0]?.interactionId ?? ''),
    );
    await service.worker.kill('SIGKILL');
    // Only from here on: a booting agent prints nothing either.
    await service.worker.start({ STALL_TIMEOUT_MS: String(stallMs) });
    await sleep(2 * stallMs);
    for (const [at, run] of runs.entries()) {
      expect(await pending(run)).toMatchObject([{ interactionId: ids[at] }]);
      expect(await service.readRun(run)).toMatchObject({
        ...{ status: 'running', agentStatus: 'waiting' },
      });
      expect(await stateOf(run)).toBe('running');
      const body = { 'Which colour?': 'Blue' };
      expect(await answer(run, ids[at] ?? '', body)).toMatchObject({ status: 200 });
    }
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
    expect(await chat.turn(message)).toMatchObject({ exitCode: 0, texts: ['Done.'] });
    expect(chat.named('session_ready')).toHaveLength(1);
    expect(statusesOf(chat.events)).toEqual(['working', 'waiting', 'working', 'idle']);
    await untilAsleep(service, chat);
    await endSession(service, chat);
  });

  /** The status of the run's container. */
  const stateOf = async (runId: string) =>
    (await service.sandboxes.list()).find((one) => one.runId === runId)?.state;
});
