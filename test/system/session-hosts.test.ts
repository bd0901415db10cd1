// A conversation with the real agent that moves to another host, and back.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { commandEnv } from '../support/command-env.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { firstTalkSince } from '../support/model-talk.ts';
import { running } from '../support/prompts.ts';
import { cliWith } from '../support/run-cli.ts';
import { endSession } from '../support/run-states.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';

let service: Service;
let second: Host;
beforeAll(async () => {
  const env = { RECONCILE_EVERY_MS: '500', SESSION_PAUSE_AFTER_MS: '300' };
  service = await startService({ agent: 'real', env });
  second = await service.anotherHost();
}, 240_000);
afterAll(() => service?.stop());

const own = {
  env: { TOKEN: 'word-of-its-own' },
  appendSystemPrompt: 'PROMPT-OF-ITS-OWN',
  disallowedTools: ['WebFetch'],
};

const makes =
  'mkdir -p notes; echo one > notes/a; printf \'#!/bin/sh\\necho "<$TOKEN>"\' > show; chmod 755 show';
const showAndAdd = (more: string): string => `./show; cat notes/a; echo ${more} >> notes/a`;

interface Init {
  subtype: string;
  tools: string[];
}

const placesOf = async ({ runId }: Conversation) =>
  (await service.sandboxes.list())
    .filter((one) => one.runId === runId)
    .map(({ hostId, generation }) => ({ hostId, generation }));

const flowrun = (...args: string[]) => cliWith(commandEnv(service))(...args);

/** Resolves when its session has left it. */
async function drain(hostId: string, chat: Conversation): Promise<void> {
  expect((await flowrun('host', 'drain', hostId)).code).toBe(0);
  await expect.poll(() => placesOf(chat), { timeout: 90_000 }).toEqual([]);
}

/** Runs the next turn, which must find the earlier state. Returns the tool's output. */
async function continueOn(chat: Conversation, message: string, before: string): Promise<string> {
  const requestsBefore = service.model.requests().length;
  const seen = chat.events.length;
  expect(await chat.say(message)).toMatchObject({ exitCode: 0 });
  expect(firstTalkSince(service, requestsBefore)).toContain(before);
  const requests = service.model.requests().slice(requestsBefore);
  expect(JSON.stringify(requests.map(({ body }) => body))).toContain('PROMPT-OF-ITS-OWN');
  const events = chat.events.slice(seen);
  const systemEvents = events.filter(({ event }) => event === 'system');
  const inits = systemEvents.map(({ data }) => JSON.parse(data) as Init); // the agent's own
  const tools = inits.flatMap((each) => (each.subtype === 'init' ? each.tools : []));
  expect(tools).toContain('Bash');
  expect(tools).not.toContain('WebFetch');
  return events.find(({ event, data }) => event === 'user' && /own>/.test(data))?.data ?? '';
}

it('finds its conversation, its files and its configuration there, and again after its return', async () => {
  const [firstHost, secondHost] = [hostIdIn(service.dataDir), () => second.hostId()];
  const chat = await openConversation(service, own);
  await chat.say(running(makes, 'I made it, as 7d21.'));
  await second.worker.start();

  await drain(firstHost, chat);
  const shown = await continueOn(
    chat,
    running(showAndAdd('two'), 'I was there, as 88e4.'),
    'as 7d21.',
  );
  expect(shown).toMatch(/<word-of-its-own>\\none(?!\\ntwo)/);
  expect(await placesOf(chat)).toEqual([{ hostId: secondHost(), generation: 2 }]);

  expect((await flowrun('host', 'undrain', firstHost)).code).toBe(0);
  await drain(secondHost(), chat);
  const again = await continueOn(chat, running(showAndAdd('three'), 'I am back.'), 'as 88e4.');
  expect(again).toMatch(/<word-of-its-own>\\none\\ntwo(?!\\nthree)/);
  expect(await placesOf(chat)).toEqual([{ hostId: firstHost, generation: 3 }]);
  const sent = chat.named('user_message').map(({ data }) => JSON.parse(data) as Sent);
  assertExactlyOnce(
    chat,
    sent.map(({ messageId }) => messageId),
  );
  expect(sent).toHaveLength(3);
  expect(chat.named('session_ready')).toHaveLength(3);
  await endSession(service, chat);
}, 240_000);

interface Sent {
  messageId: string;
}
