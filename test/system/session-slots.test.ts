import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProjectStore } from '../../systems/postgres/accounts/project-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { script } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
let clients: [ApiClient, ApiClient];
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '1000' } });
  const { url, api } = await service.anotherApi();
  await api.start();
  clients = [service, createApiClient({ ...service, url })];
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 240_000 };
const saying = (say: string): string => script([{ say }]);
const hanging = script([{ say: 'working' }, { hang: true }]);
const sendBy = (client: ApiClient, { sessionId }: Conversation, message: string) =>
  client.call('POST', `/flows/${service.flowId}/chat`, { body: { message, sessionId } });
const clientOf = (n: number): ApiClient => clients[n % 2 === 0 ? 0 : 1];

describe('sessions that wake up at once, by two processes of the API', patiently, () => {
  it('are limited to the project’s cap, and one more is rejected', async () => {
    await limitTo(3);
    const chats = await Promise.all(Array.from({ length: 6 }, () => openConversation(service)));
    const watch = watchAwake();
    const answers = await Promise.all(chats.map((chat, n) => sendBy(clientOf(n), chat, hanging)));
    const taken = chats.filter((_, n) => answers[n]?.status === 202);
    expect(taken).toHaveLength(3);
    for (const { status, body } of answers.filter((answer) => answer.status !== 202)) {
      expect(status).toBe(429);
      expect(body).toMatchObject({ error: { code: 'CONCURRENT_LIMIT', limit: 3, current: 3 } });
    }
    for (const chat of taken) await chat.until(({ event }) => event === 'chat_output');
    expect(await watch.end()).toBe(3);
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });

  it('take turns when they retry: never more at a time, and every message has its turn', async () => {
    await limitTo(2);
    const chats = await Promise.all(Array.from({ length: 6 }, () => openConversation(service)));
    const watch = watchAwake();
    const turns = await Promise.all(
      chats.map(async (chat, n) =>
        chat.turn(await retryUntilAccepted(clientOf(n), chat, saying(`I am ${n}.`))),
      ),
    );
    expect(await watch.end()).toBe(2);
    expect(turns.map(({ texts }) => texts)).toEqual(chats.map((_, n) => [`I am ${n}.`]));
    for (const chat of chats) expect(chat.named('turn_end')).toHaveLength(1);
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });
});

describe('sessions that wake up and runs that are triggered at once', patiently, () => {
  it('share the slots of their project', async () => {
    await limitTo(3);
    const chats = await Promise.all(Array.from({ length: 4 }, () => openConversation(service)));
    const watch = watchAwake();
    const run = (n: number) =>
      clientOf(n).call('POST', `/flows/${service.flowId}/runs`, { body: { prompt: hanging } });
    const answers = await Promise.all(
      chats.flatMap((chat, n) => [sendBy(clientOf(n), chat, hanging), run(n), run(n + 1)]),
    );
    const taken = answers.filter(({ status }) => status === 201 || status === 202);
    expect(taken).toHaveLength(3);
    for (const { status, body } of answers.filter((answer) => !taken.includes(answer))) {
      expect(status).toBe(429);
      expect(body).toMatchObject({ error: { code: 'CONCURRENT_LIMIT', limit: 3, current: 3 } });
    }
    const working = async () =>
      (await Promise.all(taken.map(({ data }) => service.readRun(String(data['runId']))))).filter(
        ({ agentStatus }) => agentStatus === 'working',
      ).length;
    await expect.poll(working, { timeout: 60_000 }).toBe(3);
    expect(await watch.end()).toBe(3);
    await Promise.all(
      taken.map(({ data }) => service.call('DELETE', `/runs/${String(data['runId'])}`)),
    );
    await Promise.all(chats.map((chat) => endSession(service, chat)));
  });
});

/** Retries as a client does after a 429. */
async function retryUntilAccepted(
  client: ApiClient,
  chat: Conversation,
  message: string,
): Promise<string> {
  const end = performance.now() + 200_000;
  for (;;) {
    const { status, data, body } = await sendBy(client, chat, message);
    if (status === 202) return String(data['messageId']);
    expect(body).toMatchObject({ error: { code: 'CONCURRENT_LIMIT', limit: 2, current: 2 } });
    if (performance.now() > end) throw new Error('no slot became free');
    await sleep(500);
  }
}

/** Polls how many sessions occupy a slot, and how many have a running container. */
function watchAwake(): { end: () => Promise<number> } {
  const over = new AbortController();
  const text =
    'select count(*)::int as awake from runs r where r.project_id = $1 and occupies_slot(r)';
  const watching = (async () => {
    let most = 0;
    while (!over.signal.aborted) {
      const values = [service.projectId];
      const { rows } = await service.database.pool.query<{ awake: number }>(text, values);
      const running = (await service.sandboxes.list()).filter(({ state }) => state === 'running');
      most = Math.max(most, rows[0]?.awake ?? 0, running.length);
      await sleep(20);
    }
    return most;
  })();
  return {
    end() {
      over.abort();
      return watching;
    },
  };
}

async function limitTo(maxConcurrentRuns: number): Promise<void> {
  const sealer = createSealer(service.encryptionKey);
  const projects = createProjectStore(service.database.pool, sealer);
  await projects.update(service.projectId, { maxConcurrentRuns });
}
