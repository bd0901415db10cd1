import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedSandbox } from '../../systems/docker/container/list.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { firstTalkSince } from '../support/model-talk.ts';
import { running, saying, script, scriptForBoth } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { endSession, untilAsleep, untilRemoved } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 180_000 };

const turns = ['first', 'later'] as const;

const writing = (path: string, content: string): string =>
  scriptForBoth(
    [{ write: { path: `/workspace/${path}`, content } }, { say: 'Written.' }],
    [{ tool: 'Write', input: { file_path: `/workspace/${path}`, content } }, { text: 'Written.' }],
  );

const reading = (path: string): string => running(`cat /workspace/${path}`, 'Read.');

describe.each(['scripted', 'real'] as const)('a session of the %s agent', patiently, (agent) => {
  let service: Service;
  beforeAll(async () => {
    const env = {
      SESSION_IDLE_MS: '3000',
      SESSION_ATTENDED_IDLE_MS: '3000',
      SESSION_PAUSE_AFTER_MS: '300',
      RECONCILE_EVERY_MS: '1000',
    };
    service = await startService({ agent, env });
  }, 240_000);
  afterAll(() => service?.stop());

  it('continues after its sleep with its conversation and files, in another container', async () => {
    const chat = await openConversation(service);
    await chat.say(writing('notes/a.txt', 'kept-7d21'));
    await untilAsleep(service, chat);
    await untilRemoved(service, chat);
    expect(await service.call('POST', `/runs/${chat.runId}/interrupt`)).toMatchObject({
      ...{ status: 200, data: { status: 'sleep', finishedAt: null } },
    });
    const requestsBefore = service.model.requests().length;
    const turn = await chat.say(reading('notes/a.txt'));
    expect(turn).toMatchObject({ exitCode: 0, texts: ['Read.'] });
    expect(chat.events.some(({ event, data }) => event === 'user' && /kept-7d21/.test(data))).toBe(
      true,
    );
    // Before the file is read, the model can have it only from the first message.
    if (agent === 'real')
      expect(firstTalkSince(service, requestsBefore)).toMatch(/kept-7d21.*Written\./);
    expect(chat.named('session_ready')).toHaveLength(2);
    expect(await service.readRun(chat.runId)).toMatchObject({ status: 'running' });
    await endSession(service, chat);
  });

  it.each(turns)(
    'runs a message again whose container was killed inside a tool in its %s turn',
    async (which) => {
      const chat = await openConversation(service);
      const sent = await beginning(chat, which);
      sent.push(await chat.send(stuckOnce()));
      await chat.until(({ event, data }) => event === 'filetree' && /once/.test(data));
      const requestsBefore = service.model.requests().length;
      await killContainer(service, chat);
      expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ exitCode: 0, texts: ['Done.'] });
      if (agent === 'real' && which === 'later')
        expect(firstTalkSince(service, requestsBefore)).toContain('Before.');
      sent.push(await chat.send(saying('Next.')));
      expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ exitCode: 0, texts: ['Next.'] });
      assertExactlyOnce(chat, sent);
      expect(JSON.parse(chat.named('user_message').at(-2)?.data ?? '')).toMatchObject({
        ...{ messageId: sent.at(-2), attempt: 2 },
      });
      expect(chat.named('session_ready')).toHaveLength(2);
      expect(chat.named('state_rolled_back')).toEqual([]);
      await endSession(service, chat);
    },
  );

  it('runs a message once whose container was killed before it started, and the queued ones', async () => {
    // Its worker dies between taking the message and handing it to the agent.
    await restartWithFailpoint(service.worker, 'turn.claimed');
    const chat = await openConversation(service);
    const first = await chat.send(saying('First.'));
    const second = await chat.send(saying('Second.'));
    await restartAfterFailpoint(service.worker, async () => {
      await chat.until(({ event }) => event === 'user_message');
      if (agent === 'real') beginTranscript(service, chat);
      await killContainer(service, chat);
      expect(chat.named('user')).toEqual([]);
    });
    expect(await chat.turn(first)).toMatchObject({ exitCode: 0, texts: ['First.'] });
    expect(await chat.turn(second)).toMatchObject({ exitCode: 0, texts: ['Second.'] });
    assertExactlyOnce(chat, [first, second]);
    expect(chat.named('session_ready')).toHaveLength(2);
    await endSession(service, chat);
  });

  it.each(turns)(
    'runs a message again whose container was killed during a model call in its %s turn',
    async (which) => {
      const chat = await openConversation(service);
      const sent = await beginning(chat, which);
      const reply = `After all, ${which}.`;
      // Both agents hang the first time: one until a file exists, the other in a model call.
      service.model.script([{ delayMs: 600_000 }, { text: reply }]);
      const steps = [{ waitForFile: '/workspace/go-on' }, { say: reply }];
      sent.push(await chat.send(script(steps)));
      // The real agent repeats its message only after the model has answered.
      if (agent === 'real') await untilModelIsAsked(service, reply);
      else await chat.until(({ event, data }) => event === 'user' && data.includes(reply));
      service.model.script([{ text: reply }]);
      await killContainer(service, chat);
      await letNextGoOn(service, chat);
      expect(await chat.turn(sent.at(-1) ?? '')).toMatchObject({ exitCode: 0, texts: [reply] });
      assertExactlyOnce(chat, sent);
      await endSession(service, chat);
    },
  );
});

/** Earlier messages of the session, already answered. */
async function beginning(chat: Conversation, which: (typeof turns)[number]): Promise<string[]> {
  return which === 'first' ? [] : [(await chat.say(saying('Before.'))).messageId];
}

/** Hangs inside a tool, only the first time. */
const stuckOnce = (): string =>
  running('test -e /workspace/once || { touch /workspace/once; sleep 600; }', 'Done.');

/** An agent that is killed early can leave an empty conversation. */
function beginTranscript({ dataDir }: Service, { runId }: Conversation): void {
  const { config } = foldersOf(dataDir, { runId, generation: 1 });
  const folder = join(config, 'projects', '-workspace');
  mkdirSync(folder, { recursive: true });
  const line = { type: 'queue-operation', operation: 'enqueue', sessionId: runId };
  writeFileSync(join(folder, `${runId}.jsonl`), `${JSON.stringify(line)}\n`);
}

/** Ignores the agent's side requests, which offer no tools. */
async function untilModelIsAsked(service: Service, what: string): Promise<void> {
  const isAsked = (): boolean =>
    service.model.requests().some(({ body }) => {
      const request = JSON.stringify(body ?? null);
      return /"tools":\[\{/.test(request) && request.includes(what);
    });
  await expect.poll(isAsked, { timeout: 60_000, interval: 50 }).toBe(true);
}

async function killContainer(service: Service, chat: Conversation): Promise<void> {
  const { containerId } = await newestSandbox(service, chat);
  await service.sandboxes.signal(containerId, 'SIGKILL');
}

/** Releases the agent that waits in the second sandbox. */
async function letNextGoOn(service: Service, chat: Conversation): Promise<void> {
  const ready = () => chat.named('session_ready').length;
  await expect.poll(ready, { timeout: 90_000, interval: 50 }).toBe(2);
  releaseAgent(service, chat.runId, await newestSandbox(service, chat));
}

async function newestSandbox(service: Service, { runId }: Conversation): Promise<ListedSandbox> {
  const own = (await service.sandboxes.list()).filter((one) => one.runId === runId);
  const last = own.sort((a, b) => b.generation - a.generation)[0];
  if (!last) throw new Error('it has no container');
  return last;
}
