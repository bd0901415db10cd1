// An agent that exceeds the time limit, stalls, or exhausts a resource fails only the current turn
// of its session, as long as the next turn can get a sandbox. The tests run concurrently, since
// each of them mostly waits.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { modelScript, script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { payload, statusesOf } from '../support/stream-story.ts';

const miB = 1024 ** 2;
/** A booting agent prints nothing either, and must be much faster even on a busy machine. */
const stallSeconds = 20;

let service: Service;
beforeAll(async () => {
  const env = {
    STALL_TIMEOUT_MS: String(stallSeconds * 1_000),
    WORKSPACE_MAX_BYTES: String(20 * miB),
    RECONCILE_EVERY_MS: '1000',
  };
  service = await startService({ env });
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 240_000 };
const begun = { say: 'begun' };
const speaking = { repeat: 3_600, steps: [{ sleepMs: 1_000 }, { say: 'on and on' }] };
const inTime: Partial<NewFlow> = { timeoutSeconds: stallSeconds };
const small: Partial<NewFlow> = { resources: { memoryBytes: 200 * miB, cpus: 1 } };

interface Cut {
  what: string;
  flow: Partial<NewFlow>;
  steps: object[];
  error: string;
  /** How many sandboxes receive the message, and how many start before the next message. */
  tries: number;
  sandboxes: number;
}

const cuts: Cut[] = [
  {
    what: 'is not done at the time limit of its flow',
    ...{ flow: inTime, steps: [begun, speaking] },
    ...{ error: 'timed_out', tries: 1, sandboxes: 1 },
  },
  {
    what: 'is not done at its time limit, and whose agent hears no interrupt,',
    ...{ flow: inTime, steps: [{ deaf: true }, { trapTerm: true }, begun, speaking] },
    ...{ error: 'timed_out', tries: 1, sandboxes: 2 },
  },
  {
    what: 'is silent for too long',
    ...{ flow: {}, steps: [begun, { hang: true }] },
    ...{ error: 'stalled', tries: 1, sandboxes: 1 },
  },
  {
    what: 'takes more memory than there is, in one sandbox and in the next,',
    ...{ flow: small, steps: [begun, { oom: true }] },
    ...{ error: 'out_of_memory', tries: 2, sandboxes: 3 },
  },
];

describe.concurrent('a turn of a session', patiently, () => {
  it.each(cuts.map((cut) => [cut.what, cut] as const))(
    'that %s fails with that cause, and the next is answered',
    async (_what, cut) => {
      const { chat, inFlow } = await openIn(cut.flow);
      const messageId = await chat.send(script(cut.steps));
      await chat.turn(messageId);
      expect(chat.named('turn_end').map(payload)).toEqual([
        { exitCode: 1, sessionId: chat.sessionId, messageId, error: cut.error },
      ]);
      expect(statusesOf(chat.events).at(-1)).toBe('error');
      const begins = chat.named('chat_output').filter(({ data }) => data.includes('begun'));
      expect(begins).toHaveLength(cut.tries);
      expect(await service.readRun(chat.runId)).toMatchObject({
        ...{ agentStatus: 'error', finishedAt: null },
      });
      const next = await chat.say(script([{ say: 'Next.' }]));
      expect(next).toMatchObject({ exitCode: 0, texts: ['Next.'] });
      expect(chat.named('session_ready')).toHaveLength(cut.sandboxes);
      await endSession(inFlow, chat);
    },
  );

  it('that fills the disk ends its session as disk_full, and so does a full disk between two turns', async () => {
    const [working, resting] = [await openConversation(service), await openConversation(service)];
    const later = '(sleep 2; head -c 22000000 /dev/zero > big) > /dev/null 2>&1 &';
    expect(await resting.say(script([{ shell: later }]))).toMatchObject({ exitCode: 0 });
    const sent = [
      await working.send(script([{ fill: { path: 'big', mb: 21 } }, { hang: true }])),
      await working.send(script([{ say: 'Never.' }])),
    ];
    await expectDiskFull(working);
    expect(working.named('turn_end').map(payload)).toEqual(
      sent.map((messageId) => ({
        ...{ exitCode: 1, sessionId: working.sessionId, messageId, error: 'disk_full' },
      })),
    );
    await expectDiskFull(resting);
    expect(resting.named('turn_end')).toHaveLength(1);
  });
});

describe('the budget of a flow', patiently, () => {
  it('is that of a whole session, which ends with it and has cost no more', async () => {
    const { chat } = await openIn({ limits: { maxTurns: null, maxBudgetUsd: 0.01 } });
    const content = modelScript([{ usage: { output_tokens: 50 } }, { text: 'Paid.' }]);
    const calls = { callModels: { times: 1, content, maxTokens: 60 } };
    expect(await chat.say(script([calls, { say: 'One.' }]))).toMatchObject({ texts: ['One.'] });
    const { costUsd: first } = await service.readRun(chat.runId);
    expect(first).toBeGreaterThan(0.001);
    const sent = await chat.send(script([{ repeat: 100, steps: [calls] }, { hang: true }]));
    await chat.closed;
    expect(chat.named('turn_end').map(payload).at(-1)).toEqual({
      ...{ exitCode: 1, sessionId: chat.sessionId, messageId: sent, error: 'budget_exceeded' },
    });
    const ended = await service.readRun(chat.runId);
    expect(ended).toMatchObject({ status: 'sleep', error: 'budget_exceeded' });
    expect(ended.costUsd).toBeGreaterThan(2 * (first ?? 0));
    expect(ended.costUsd).toBeLessThanOrEqual(0.01);
  });
});

async function openIn(flow: Partial<NewFlow>) {
  const flows = createFlowStore(service.database.pool, createSealer(service.encryptionKey));
  const { projectId } = service;
  const { flowId } = await flows.create({ projectId, name: 'Bounded', ...flow });
  const inFlow = { ...service, flowId };
  return { inFlow, chat: await openConversation(inFlow) };
}

async function expectDiskFull({ runId, sessionId, closed, events }: Conversation): Promise<void> {
  await closed;
  expect(events.at(-1)).toMatchObject({ event: 'finished' });
  expect(JSON.parse(events.at(-1)?.data ?? '{}')).toMatchObject({ sessionId, reason: 'error' });
  expect(await service.readRun(runId)).toMatchObject({ status: 'sleep', error: 'disk_full' });
}
