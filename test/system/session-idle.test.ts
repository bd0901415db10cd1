import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ListedSandbox } from '../../systems/docker/container/list.ts';
import { createEngine } from '../../systems/docker/engine.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { type Conversation, openConversation } from '../support/conversation.ts';
import { saying } from '../support/prompts.ts';
import { endSession } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';

const patiently = { timeout: 180_000 };

let service: Service;
beforeAll(async () => {
  const env = { SESSION_PAUSE_AFTER_MS: '300', RECONCILE_EVERY_MS: '1000' };
  service = await startService({ agent: 'real', env });
}, 240_000);
afterAll(() => service?.stop());

async function sandboxOf({ runId }: Conversation): Promise<ListedSandbox | undefined> {
  return (await service.sandboxes.list()).find((one) => one.runId === runId);
}

const untilPaused = (chat: Conversation): Promise<void> =>
  expect.poll(async () => (await sandboxOf(chat))?.state, { timeout: 30_000 }).toBe('paused');

const restMs = 4_000;
/** The kernel of a paused gVisor sandbox still runs, at less than 1 % of a processor. */
const atRestNsMax = stackEnv.sandboxRuntime === 'runsc' ? restMs * 10_000 : 0;

/** Processor time of the container's control group in nanoseconds. */
async function cpuNs(chat: Conversation): Promise<number> {
  const { dockerHost } = stackEnv;
  const { docker } = createEngine({ dockerHost, instance: service.instance });
  const container = docker.getContainer((await sandboxOf(chat))?.containerId ?? '');
  const { cpu_stats } = await container.stats({ stream: false });
  return cpu_stats.cpu_usage.total_usage;
}

describe('the agent of an idle session', patiently, () => {
  it('is paused and uses no processor time; the next message finds it unchanged', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('One.'));
    await untilPaused(chat);
    const atRest = await cpuNs(chat);
    expect(atRest).toBeGreaterThan(0);
    await sleep(restMs);
    expect((await cpuNs(chat)) - atRest).toBeLessThanOrEqual(atRestNsMax);
    expect((await sandboxOf(chat))?.state).toBe('paused');
    expect(await service.readRun(chat.runId)).toMatchObject({
      ...{ status: 'running', agentStatus: 'idle' },
    });
    const interrupted = await service.call('POST', `/runs/${chat.runId}/interrupt`);
    expect(interrupted).toMatchObject({ status: 200, data: { agentStatus: 'idle' } });
    expect(await chat.say(saying('Two.'))).toMatchObject({ exitCode: 0, texts: ['Two.'] });
    expect(await cpuNs(chat)).toBeGreaterThan(atRest);
    expect(chat.named('session_ready')).toHaveLength(1);
    await untilPaused(chat);
    await endSession(service, chat);
  });

  it('continues in another container if its container was killed', async () => {
    const chat = await openConversation(service);
    await chat.say(saying('One.'));
    await untilPaused(chat);
    const sandbox = await sandboxOf(chat);
    await service.sandboxes.remove(sandbox?.containerId ?? '');
    await expect
      .poll(async () => (await service.readRun(chat.runId)).status, { timeout: 30_000 })
      .toBe('sleep');
    await untilLeftoversAreRemoved(chat);
    expect(await chat.say(saying('Two.'))).toMatchObject({ exitCode: 0, texts: ['Two.'] });
    expect(chat.named('session_ready')).toHaveLength(2);
    expect(chat.named('finished')).toEqual([]);
    await endSession(service, chat);
  });
});

async function untilLeftoversAreRemoved({ runId }: Conversation): Promise<void> {
  const isSwept = (): boolean =>
    !existsSync(foldersOf(service.dataDir, { runId, generation: 1 }).root);
  await expect.poll(isSwept, { timeout: 60_000 }).toBe(true);
}
