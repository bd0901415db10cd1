import { afterAll, beforeAll, expect, it } from 'vitest';
import { openConversation } from '../support/conversation.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { cliWith } from '../support/run-cli.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Host, hostIdIn, type Service, startService } from '../support/service.ts';
import { script } from '../unit/scripted-agent/lines.ts';

let service: Service;
let second: Host;
beforeAll(async () => {
  service = await startService({ env: { RECONCILE_EVERY_MS: '500' } });
  second = await service.anotherHost();
}, 240_000);
afterAll(() => service?.stop());

const withinMs = 60_000;

it('drains a host: its sessions wake up on another host, and its runs continue', async () => {
  const first = hostIdIn(service.dataDir);
  const chat = await openConversation(service);
  await chat.say(script([{ write: { path: '/workspace/a.txt', content: 'kept' } }]));
  const waits = script([{ say: 'working' }, { waitForFile: 'go-on' }]);
  const { runId } = await service.trigger({ prompt: waits });
  await untilWorking(service, { runId });
  await second.worker.start();

  const { database, encryptionKey } = service;
  const flowrun = cliWith({
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
  });
  expect((await flowrun('host', 'drain', first)).code).toBe(0);
  const placesOf = async (id: string) =>
    (await service.sandboxes.list())
      .filter((one) => one.runId === id)
      .map(({ hostId, generation }) => ({ hostId, generation }));
  await expect.poll(() => placesOf(chat.runId), { timeout: withinMs }).toEqual([]);

  const turn = await chat.say(script([{ shell: 'cat a.txt' }, { recall: true }]));
  expect(turn).toMatchObject({ exitCode: 0, texts: [expect.stringContaining('a.txt')] });
  expect(chat.events.some(({ event, data }) => event === 'user' && /kept/.test(data))).toBe(true);
  expect(await placesOf(chat.runId)).toEqual([{ hostId: second.hostId(), generation: 2 }]);
  expect(await placesOf(runId)).toEqual([{ hostId: first, generation: 1 }]);
  releaseAgent(service, runId);
  expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
}, 180_000);
