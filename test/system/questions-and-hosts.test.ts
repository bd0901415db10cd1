import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asking, colour, questionsOf } from '../support/questions.ts';
import { type Service, startService } from '../support/service.ts';

const stallMs = 5_000;

describe('with the scripted agent', { timeout: 180_000 }, () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  }, 240_000);
  afterAll(() => service?.stop());

  const { pending, untilAsked, answer } = questionsOf(() => service);

  it('a question is answered while its host is away, and heard when that is back', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour]) });
    const [asked] = await untilAsked(runId);
    await service.worker.kill('SIGKILL');
    const body = { 'Which colour?': 'Blue' };
    expect(await answer(runId, asked?.interactionId ?? '', body)).toMatchObject({ status: 200 });
    await service.worker.start();
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
  });

  it('a question outlasts a restart of its host', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour]) });
    const [asked] = await untilAsked(runId);
    await service.worker.kill('SIGKILL');
    // Only from here on: an agent that boots is silent too.
    await service.worker.start({ STALL_TIMEOUT_MS: String(stallMs) });
    await sleep(2 * stallMs);
    expect(await pending(runId)).toMatchObject([{ interactionId: asked?.interactionId }]);
    const body = { 'Which colour?': 'Blue' };
    expect(await answer(runId, asked?.interactionId ?? '', body)).toMatchObject({ status: 200 });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
  });
});
