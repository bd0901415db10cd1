import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, createApiClient } from '../support/api-client.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

/** Presence of a reader is renewed several times in it, at least once on a busy machine. */
const idleMs = 6_000;
const attendedIdleMs = 40_000;
/** Well after one and well before the other, even on a busy machine. */
const betweenMs = 30_000;

let service: Service;
let other: ApiClient;
let otherUrl: string;
/** Sessions whose agents leave a background task. They fall asleep while the other tests run. */
let withShortTask: Promise<Asleep>;
let withEndlessTask: Promise<Asleep>;
beforeAll(async () => {
  const env = { SESSION_IDLE_MS: `${idleMs}`, SESSION_ATTENDED_IDLE_MS: `${attendedIdleMs}` };
  service = await startService({ env: { ...env, RECONCILE_EVERY_MS: '1000' } });
  const { url, api } = await service.anotherApi();
  await api.start();
  other = createApiClient({ ...service, url });
  otherUrl = url;
  withShortTask = leaveTask(2 * idleMs);
  withEndlessTask = leaveTask(20 * attendedIdleMs);
  for (const asleep of [withShortTask, withEndlessTask]) asleep.catch(() => undefined);
}, 240_000);
afterAll(() => service?.stop());

const patiently = { timeout: 180_000 };

describe('an idle session', patiently, () => {
  it('is put to sleep after its idle time if no client is attached', async () => {
    const runId = await talkedTo(other);
    expect(await asleepAfterMs(other, runId)).toBeLessThan(betweenMs);
  });

  it('stays for the attended time while a stream is open, even if the API of another reader has died', async () => {
    const runId = await talkedTo(other, (opened) => {
      hold(service.url, opened);
      hold(otherUrl, opened);
    });
    await service.api.kill('SIGKILL');
    const ms = await asleepAfterMs(other, runId);
    await service.api.start();
    expect(ms).toBeGreaterThan(betweenMs);
  });

  it('does not count readers that have left or whose API has died', async () => {
    const runId = await talkedTo(other, (opened) => hold(service.url, opened));
    await sleep(2 * idleMs);
    expect((await other.readRun(runId)).status).toBe('running');
    await service.api.kill('SIGKILL');
    const ms = await asleepAfterMs(other, runId);
    await service.api.start();
    expect(ms).toBeLessThan(betweenMs);

    const leaving = new AbortController();
    const left = await talkedTo(other, (opened) => hold(otherUrl, opened, leaving.signal));
    await sleep(2 * idleMs);
    expect((await other.readRun(left)).status).toBe('running');
    leaving.abort();
    expect(await asleepAfterMs(other, left)).toBeLessThan(betweenMs);
  });

  it('stays until its idle time after the turn of its background task', async () => {
    const { runId, ms } = await withShortTask;
    const path = `/runs/${runId}/logs?format=structured&channel=chat`;
    const { data } = await other.call<{ entries: { event: string }[] }>('GET', path);
    expect(data.entries.filter(({ event }) => event === 'result')).toHaveLength(2);
    expect(ms).toBeLessThan(attendedIdleMs);
  });

  it('is put to sleep after the attended time if its background task does not end', async () => {
    const { ms } = await withEndlessTask;
    expect(ms).toBeGreaterThan(betweenMs);
  });
});

interface Asleep {
  runId: string;
  /** From the end of the turn that a message started. */
  ms: number;
}

async function leaveTask(sleepMs: number): Promise<Asleep> {
  const steps = [{ background: { sleepMs, steps: [{ say: 'Ended.' }] } }, { say: 'Here.' }];
  const runId = await talkedTo(other, () => undefined, steps);
  return { runId, ms: await asleepAfterMs(other, runId) };
}

/** A session whose first turn has ended just now. */
async function talkedTo(
  client: ApiClient,
  opened: (runId: string) => void = () => undefined,
  steps: object[] = [{ say: 'Here.' }],
): Promise<string> {
  const path = `/flows/${service.flowId}`;
  const { data } = await client.call<{ sessionId: string; runId: string }>(
    'POST',
    `${path}/sessions`,
    { body: {} },
  );
  opened(data.runId);
  const body = { message: script(steps), sessionId: data.sessionId, stream: false };
  expect(await client.call('POST', `${path}/chat`, { body })).toMatchObject({ status: 200 });
  return data.runId;
}

/** Reads a stream until its connection closes. */
function hold(url: string, runId: string, signal?: AbortSignal): void {
  const headers = { authorization: `Bearer ${service.key}` };
  void (async () => {
    const address = `${url}/api/v1/runs/${runId}/stream`;
    const response = await fetch(address, { headers, ...(signal && { signal }) });
    for await (const chunk of response.body ?? []) void chunk;
  })().catch(() => undefined);
}

async function asleepAfterMs(client: ApiClient, runId: string): Promise<number> {
  const began = performance.now();
  while ((await client.readRun(runId)).status !== 'sleep') {
    if (performance.now() - began > 2 * attendedIdleMs) throw new Error('it does not fall asleep');
    await sleep(50);
  }
  return performance.now() - began;
}
