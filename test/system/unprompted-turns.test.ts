import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { modelScript, saying, scriptForBoth } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession } from '../support/run-states.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { payload, statusesOf } from '../support/stream-story.ts';

/** An agent must exit on its own faster than this, even on a busy machine. */
const graceMs = 5_000;

/** Both agents leave a background task that takes longer than the idle timeout. */
function beginning(): string {
  const later = 2 * graceMs;
  const steps = [{ background: { sleepMs: later, steps: [{ say: 'Ended.' }] } }, { say: 'Begun.' }];
  const command = 'until test -e /workspace/go-on; do sleep 0.1; done';
  const task = modelScript([{ tool: 'Bash', input: { command } }, { text: 'I counted.' }]);
  const helper = { description: 'Count', subagent_type: 'general-purpose', prompt: task };
  const model = [{ tool: 'Agent', input: helper }, { text: 'Begun.' }];
  return scriptForBoth(steps, model);
}

describe.each(['scripted', 'real'] as const)('with the %s agent', { timeout: 180_000 }, (agent) => {
  let service: Service;
  beforeAll(async () => {
    const env = { AFTER_RESULT_GRACE_MS: String(graceMs), SESSION_PAUSE_AFTER_MS: '1000' };
    service = await startService({ agent, env });
  }, 240_000);
  afterAll(() => service?.stop());

  it('an unprompted turn is awaited, and counted like the others', async () => {
    const { runId } = await service.trigger({ prompt: beginning() });
    const events: SentEvent[] = [];
    for await (const event of service.stream(runId)) {
      events.push(event);
      if (event.event === 'result' && resultsOf(events).length === 1) {
        await sleep(2 * graceMs);
        releaseAgent(service, runId);
      }
    }
    const run = await service.readRun(runId);
    expect(run).toMatchObject({ status: 'sleep', exitCode: 0 });
    expect(run).not.toHaveProperty('error');
    const results = resultsOf(events);
    expect(results).toHaveLength(2);
    expect(run).toMatchObject({
      result: results[1]?.['result'],
      numTurns: sum(results.map((one) => one['num_turns'])),
    });
    // The scripted agent makes no model calls. The real agent uses the same prices.
    if (agent === 'scripted') expect(run.costUsd).toBeNull();
    else expect(run.costUsd).toBeCloseTo(Number(results[1]?.['total_cost_usd']), 5);
    expect(statusesOf(events)).toEqual(['working', 'idle', 'working', 'idle']);
  });

  it('a session is not paused before its background task has had its turn', async () => {
    const chat = await openConversation(service);
    const stateOf = async ({ runId }: Conversation) =>
      (await service.sandboxes.list()).find((one) => one.runId === runId)?.state;
    const { messageId } = await chat.say(beginning());
    await sleep(graceMs);
    expect(await stateOf(chat)).toBe('running');
    releaseAgent(service, chat.runId);
    const results = () => resultsOf(chat.events).length;
    await expect.poll(results, { timeout: 90_000 }).toBe(2);
    // It belongs to no message: the next message has its own turn.
    const next = await chat.say(saying('Next.'));
    expect([next.exitCode, next.texts.at(-1)]).toEqual([0, 'Next.']);
    const ends = chat.named('turn_end').map((event) => payload(event)['messageId']);
    expect(ends).toEqual([messageId, next.messageId]);
    await expect.poll(() => stateOf(chat), { timeout: 30_000 }).toBe('paused');
    expect(chat.named('session_ready')).toHaveLength(1);
    await endSession(service, chat);
  });
});

const resultsOf = (events: SentEvent[]): Record<string, unknown>[] =>
  events.filter(({ event }) => event === 'result').map(payload);

const sum = (values: unknown[]): number =>
  values.reduce<number>((total, value) => total + Number(value), 0);
