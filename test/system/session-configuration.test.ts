// The configuration of a session with the real agent: stored sealed until the session ends, and
// changed from one turn to the next.

import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assertExactlyOnce } from '../support/assert-exactly-once.ts';
import { databaseText } from '../support/collect-all-output.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { modelScript } from '../support/prompts.ts';
import { untilAsleep } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

const patiently = { timeout: 180_000 };

let service: Service;
beforeAll(async () => {
  service = await startService({
    agent: 'real',
    env: { SESSION_IDLE_MS: '2000', SESSION_ATTENDED_IDLE_MS: '2000' },
    flow: {
      secrets: { env: {}, mcpServers: { own: { type: 'http', url: 'https://own.test/mcp' } } },
    },
  });
}, 240_000);
afterAll(() => service?.stop());

const words = ['FIRST-WORDS', 'OTHER-WORDS'];
const [first, other] = ['canary-first-7f3a', 'canary-other-91c2'];
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
/** The agent prints digests of its secrets instead of their values. */
const show = { tool: 'Bash', input: { command: 'printf %s "$TOKEN" | sha256sum' } };
const wait = { tool: 'Bash', input: { command: 'sleep 4' } };
const model = (...steps: object[]): string => modelScript([...steps, { text: 'Done.' }]);

const opening = {
  env: { TOKEN: first },
  mcpServers: {
    tickets: { type: 'http', url: 'https://tickets.test/mcp', headers: { 'x-key': first } },
  },
  disallowedTools: ['WebFetch'],
  appendSystemPrompt: 'FIRST-WORDS',
};

const pathOf = ({ sessionId }: Conversation): string =>
  `/flows/${service.flowId}/sessions/${sessionId}`;
const change = (chat: Conversation, body: Record<string, unknown>) =>
  service.call('PATCH', `${pathOf(chat)}/config`, { body });

/** The digests that the tools have printed so far. */
const shown = (chat: Conversation): string[] =>
  chat
    .named('user')
    .map(({ data }) => /[0-9a-f]{64}/.exec(data)?.[0])
    .filter((found) => found !== undefined);

interface Init {
  tools: string[];
  mcp_servers: { name: string }[];
}

/** The agent's init message of each turn so far. */
const turnsOf = (chat: Conversation): Init[] =>
  chat
    .named('system')
    .filter(({ data }) => data.includes('"init"'))
    .map(({ data }) => JSON.parse(data) as Init); // the agent's own

/** The words that each model request has contained since that one. */
function wordsSince(count: number): string[] {
  const bodies = service.model
    .requests()
    .slice(count)
    .map(({ body }) => JSON.stringify(body ?? null))
    .filter((body) => body.includes('"Bash"'));
  return bodies.map((body) => words.filter((word) => body.includes(word)).join());
}

describe("a session's configuration", patiently, () => {
  it('survives its sleep, is readable nowhere, and is deleted at its end', async () => {
    const chat = await openConversation(service, opening);
    expect(await databaseText(service.database.pool)).not.toMatch(/canary-|FIRST-WORDS/);
    const before = service.model.requests().length;
    await chat.say(model(show));
    await untilAsleep(service, chat);
    await chat.say(model(show));
    expect(chat.named('session_ready')).toHaveLength(2);
    expect(shown(chat)).toEqual([digest(first), digest(first)]);
    expect(new Set(wordsSince(before))).toEqual(new Set(['FIRST-WORDS']));
    const turns = turnsOf(chat);
    expect(turns).toHaveLength(2);
    for (const { tools, mcp_servers: servers } of turns) {
      expect(tools).not.toContain('WebFetch');
      expect(servers.map(({ name }) => name).sort()).toEqual(['own', 'tickets']);
    }
    expect(await databaseText(service.database.pool)).not.toContain(first);
    await service.call('DELETE', pathOf(chat));
    await chat.closed;
    const kept = 'select config_sealed from sessions where run_id = $1';
    const { rows } = await service.database.pool.query(kept, [chat.runId]);
    expect(rows).toEqual([{ config_sealed: null }]);
  });

  it('is changed for the next turn, even if its message is queued, and not for the current turn', async () => {
    const chat = await openConversation(service, opening);
    const before = service.model.requests().length;
    const message = await chat.send(model(wait, show));
    const waiting = await chat.send(model(show));
    await chat.until(({ event, data }) => event === 'assistant' && data.includes('sleep 4'));
    const changed = await change(chat, {
      ...{ env: { TOKEN: other }, disallowedTools: null, appendSystemPrompt: 'OTHER-WORDS' },
    });
    expect(changed.data).toMatchObject({ effective: 'next_turn' });
    for (const each of [message, waiting])
      expect(await chat.turn(each)).toMatchObject({ exitCode: 0 });
    expect(shown(chat)).toEqual([digest(first), digest(other)]);
    const seenWords = wordsSince(before);
    const changes = seenWords.filter((each, index) => each !== seenWords[index - 1]);
    expect(changes).toEqual(['FIRST-WORDS', 'OTHER-WORDS']);
    // Each turn has at least two replies, with a tool's result between them.
    for (const word of words)
      expect(seenWords.filter((each) => each === word).length).toBeGreaterThan(1);
    assertExactlyOnce(chat, [message, waiting]);
    const [during, after] = turnsOf(chat);
    expect(during?.tools).not.toContain('WebFetch');
    expect(after?.tools).toContain('WebFetch');
    expect(await databaseText(service.database.pool)).not.toMatch(/canary-/);
    await service.call('DELETE', pathOf(chat));
    await chat.closed;
  });

  it('lists its current servers in the record of the run', async () => {
    const chat = await openConversation(service, { mcpServers: opening.mcpServers });
    const names = async () => (await service.readRun(chat.runId)).mcpServerNames;
    expect(await names()).toEqual(['own', 'tickets']);
    const more = { wiki: { type: 'sse', url: 'https://wiki.test/sse' }, tickets: null };
    const merged = await change(chat, { mcpServers: more });
    expect(merged.data).toMatchObject({ mcpServers: ['wiki'] });
    expect(await names()).toEqual(['own', 'wiki']);
    await change(chat, { mcpMode: 'replace' });
    expect(await names()).toEqual(['wiki']);
    await change(chat, { mcpServers: null, mcpMode: null });
    expect(await names()).toEqual(['own']);
    await service.call('DELETE', pathOf(chat));
  });
});
