import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scriptForBoth } from '../support/prompts.ts';
import { asking, colour, questionsOf, rooms, size } from '../support/questions.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { collect, payload, statusesOf } from '../support/stream-story.ts';

/**
 * Shorter than a question of the scripted agent waits. A booting agent prints nothing either, and
 * must be much faster than this even on a busy machine.
 */
const stallMs = { scripted: 20_000, real: 60_000 };

describe.each(['scripted', 'real'] as const)('with the %s agent', { timeout: 180_000 }, (agent) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ agent, env: { STALL_TIMEOUT_MS: String(stallMs[agent]) } });
  }, 240_000);
  afterAll(() => service?.stop());

  const { pending, untilAsked, answer } = questionsOf(() => service);

  it('a question is shown, outlasts the stall timeout, and its answer continues the run', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour, rooms]) });
    const reading = collect(service.stream(runId));
    const [question] = await untilAsked(runId);
    const id = question?.interactionId ?? '';
    expect(question).toMatchObject({ toolName: 'AskUserQuestion', questions: [colour, rooms] });
    expect(await service.readRun(runId)).toMatchObject({ agentStatus: 'waiting' });
    if (agent === 'scripted') await sleep(1.4 * stallMs.scripted);

    await expectRefusals(runId, id);
    const answers = { 'Which colour?': 'Blue', 'Which rooms?': ['Red', 'a blue one'] };
    const given = await answer(runId, id, answers);
    expect(given).toMatchObject({ status: 200, data: { runId, interactionId: id, answers } });
    expect(await answer(runId, id, answers)).toMatchObject({ status: 200 });
    const otherwise = { ...answers, 'Which colour?': 'Red' };
    expect(await answer(runId, id, otherwise)).toMatchObject({ status: 400 });

    const ended = await service.untilEnded(runId);
    expect(ended).toMatchObject({ exitCode: 0, result: 'Done.', agentStatus: 'idle' });
    expect(ended).not.toHaveProperty('error');
    expect(await pending(runId)).toEqual([]);
    expect(await answer(runId, id, answers)).toMatchObject({ status: 200 });
    expect(await answer(runId, id, otherwise)).toMatchObject({ status: 400 });

    const events = await reading;
    expectStory(events, id);
    const toolResult = events.find(
      ({ event, data }) => event === 'user' && /tool_result/.test(data),
    );
    expect(toolResult?.data).toContain('Blue');
    expect(toolResult?.data).toContain('Red, a blue one');
  });

  async function expectRefusals(runId: string, id: string): Promise<void> {
    const whole = { 'Which colour?': 'Blue', 'Which rooms?': 'Red' };
    const refused: object[] = [
      { 'Which colour?': 'Blue' },
      { ...whole, 'Which door?': 'Red' },
      { ...whole, 'Which colour?': ['Blue', 'Red'] },
      { ...whole, 'Which colour?': '' },
      { ...whole, 'Which colour?': 7 },
      { ...whole, 'Which rooms?': [] },
      { ...whole, 'Which colour?': 'x'.repeat(10_001) },
      {},
    ];
    for (const answers of refused) {
      expect(await answer(runId, id, answers), JSON.stringify(answers)).toMatchObject({
        status: 400,
        body: { error: { code: 'VALIDATION_ERROR' } },
      });
    }
    const notFound = { status: 404, body: { error: { code: 'NOT_FOUND' } } };
    for (const unknown of ['never-asked', 'a%00b', 'x'.repeat(129)]) {
      expect(await answer(runId, unknown, whole)).toMatchObject(notFound);
    }
    expect(await pending(runId)).toHaveLength(1);
  }

  it('an answer to one of two questions ends no wait', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour], [size]) });
    const reading = collect(service.stream(runId));
    const interactions = await untilAsked(runId, 2);
    const idOf = (text: string): string =>
      interactions.find(({ questions }) => questions[0]?.question === text)?.interactionId ?? '';
    const second = { 'How large?': 'x'.repeat(10_000) };
    expect(await answer(runId, idOf('How large?'), second)).toMatchObject({ status: 200 });
    const left = [{ interactionId: idOf('Which colour?') }];
    expect(await pending(runId)).toMatchObject(left);
    expect(await service.readRun(runId)).toMatchObject({ agentStatus: 'waiting' });
    const first = { 'Which colour?': 'Red' };
    const both = await Promise.all(
      [1, 2, 3].map(() => answer(runId, idOf('Which colour?'), first)),
    );
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
    expect(statusesOf(await reading)).toEqual(['working', 'waiting', 'working', 'idle']);
  });

  it('a question is withdrawn when the run is stopped', async () => {
    const { runId } = await service.trigger({ prompt: asking([colour]) });
    const reading = collect(service.stream(runId));
    const [question] = await untilAsked(runId);
    await service.call('POST', `/runs/${runId}/stop`, { body: {} });
    expect(await service.untilEnded(runId)).toMatchObject({ error: 'stopped_by_api' });
    expect(await pending(runId)).toEqual([]);
    const late = await answer(runId, question?.interactionId ?? '', { 'Which colour?': 'Red' });
    expect(late).toMatchObject({ status: 400, body: { error: { code: 'VALIDATION_ERROR' } } });
    const closed = (await reading).find(({ event }) => event === 'interaction_closed');
    expect(JSON.parse(closed?.data ?? '{}')).toMatchObject({ outcome: 'withdrawn' });
  });

  it('a tool that needs permission is denied, and the run continues', async () => {
    const steps = [{ permit: 'Bash' }, { request: 'elicitation' }, { say: 'Done.' }];
    const model = [
      { tool: 'Bash', input: { command: 'rm -rf /nowhere' } },
      { tool: 'EnterPlanMode', input: {} },
      { text: 'Done.' },
    ];
    const prompt = scriptForBoth(steps, model);
    const { runId } = await service.trigger({ prompt });
    const events = await collect(service.stream(runId));
    expect(await service.readRun(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
    expect(events.filter(({ event }) => event.startsWith('interaction'))).toEqual([]);
    expect(statusesOf(events)).toEqual(['working', 'idle']);
    const toolResult = events.find(
      ({ event, data }) => event === 'user' && /tool_result/.test(data),
    );
    expect(toolResult?.data).toContain('needs the approval of a person');
  });

  it('the agent cannot ask if the run withholds the question tool', async () => {
    const prompt = asking([colour]);
    const withheld = ['AskUserQuestion'];
    const { runId } = await service.trigger({ prompt, disallowedTools: withheld });
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0, result: 'Done.' });
  });
});

function expectStory(events: SentEvent[], interactionId: string): void {
  expect(statusesOf(events)).toEqual(['working', 'waiting', 'working', 'idle']);
  const about = events.filter(({ event }) => event.startsWith('interaction'));
  expect(about.map(({ event }) => event)).toEqual(['interaction', 'interaction_closed']);
  expect(about.map(payload)).toEqual([
    { interactionId, toolName: 'AskUserQuestion', questions: [colour, rooms] },
    { interactionId, outcome: 'answered' },
  ]);
  expect(about.every(({ id }) => id !== undefined)).toBe(true);
}
