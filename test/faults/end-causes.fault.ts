import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import { script } from '../support/prompts.ts';
import { stackEnv } from '../support/stack-env.ts';
import { causesOf } from './support/cause-watch.ts';
import { type FaultFixture, startFaultFixture } from './support/fault-fixture.ts';
import { terminateByCommand } from './support/temporal-cli.ts';

let fixture: FaultFixture;
beforeAll(async () => {
  fixture = await startFaultFixture({ env: { RECONCILE_EVERY_MS: '1000' } });
  await fixture.service.database.pool.query('update projects set max_concurrent_runs = 1000');
});
afterAll(() => fixture?.stop());

const timeoutMs = 120_000;
/** A command takes about 100 ms to arrive. */
const delaysMs = [0, 30, 120, 700];
/** Time from a request until the end is recorded. Ends that must be detected first take longer. */
const recordedAfterMs = 700;

const endings = ['success', 'failure', 'stop', 'delete', 'removal', 'termination'] as const;
type Ending = (typeof endings)[number];

/** Permitted causes of each. The exit of a removed container may be noticed before its removal. */
const causes: Record<Ending, readonly EndCause[]> = {
  success: ['completed'],
  failure: ['exited'],
  stop: ['stopped_by_api'],
  delete: ['deleted_by_api'],
  removal: ['max_reconnects_exceeded', 'exited'],
  termination: ['terminated_by_operator'],
};

async function triggerEnd(ending: Ending, runId: string): Promise<void> {
  const { service } = fixture;
  switch (ending) {
    case 'success':
    case 'failure':
      return openGate(runId);
    case 'stop': {
      const body = { graceSeconds: 1 };
      const { status } = await service.call('POST', `/runs/${runId}/stop`, { body });
      return expect([200, 404]).toContain(status);
    }
    case 'delete':
      return expect((await service.call('DELETE', `/runs/${runId}`)).status).toBe(200);
    case 'removal': {
      const ours = (await service.sandboxes.list()).find((one) => one.runId === runId);
      return ours && service.sandboxes.remove(ours.containerId);
    }
    case 'termination':
      return terminateByCommand(stackEnv.temporalAddress, `run/${runId}`);
  }
}

/** Ends the agent. If it has already ended, its folders may be gone. */
function openGate(runId: string): void {
  const { workspace } = foldersOf(fixture.service.dataDir, { runId, generation: 1 });
  try {
    writeFileSync(join(workspace, 'end'), '');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function promptFor(pair: readonly Ending[]): string {
  const last = { say: 'done' };
  const end = pair.includes('success') ? [{ exitAfterResult: 7 }, last] : [{ exit: 7 }];
  const steps = pair.includes('failure') ? end : [last];
  return script([{ say: 'working' }, { waitForFile: 'end' }, ...steps]);
}

async function race(first: Ending, second: Ending, delayMs: number): Promise<void> {
  const runId = await fixture.trigger(promptFor([first, second]));
  const client = fixture.follow(runId, { name: `${first}, ${delayMs} ms later ${second}` });
  await client.untilFrames(3, timeoutMs);
  let wasAnswered = false;
  const firstEnd = triggerEnd(first, runId).then(() => {
    wasAnswered = true;
  });
  await sleep(delayMs);
  const isRecorded = delayMs >= recordedAfterMs;
  if (isRecorded) await untilRecorded(runId);
  const isDecided = isRecorded ? !isOneEnd(first, second) : wasAnswered && isRequest(first);
  await Promise.all([firstEnd, triggerEnd(second, runId)]);
  await client.untilFinished(timeoutMs);
  const { run, posts } = await fixture.expectInvariants(runId, { clients: [client] });
  const allowed = [...causes[first], ...(isDecided ? [] : causes[second])];
  expect(allowed, `${first}, ${delayMs} ms later ${second}`).toContain(run.endCause);
  expect(posts).toHaveLength(1);
  expect(fixture.containers.of(runId)).toEqual({ created: 1, started: 1, removed: 1 });
}

const isRequest = (ending: Ending): boolean => ending === 'stop' || ending === 'delete';

/** An agent that succeeds and then fails does both at once, even if it is released twice. */
const isOneEnd = (...pair: Ending[]): boolean =>
  pair.every((ending) => ending === 'success' || ending === 'failure');

async function untilRecorded(runId: string): Promise<void> {
  const recorded = () => causesOf(fixture.service.database.pool, runId);
  await expect.poll(recorded, { timeout: timeoutMs, interval: 20 }).toHaveLength(1);
}

const pairs = endings.flatMap((first) =>
  endings.filter((second) => second !== first).map((second) => [first, second] as const),
);

describe('two racing ends of a run', () => {
  it.each(pairs)('are recorded as the first one, once: %s and %s', async (first, second) => {
    await Promise.all(delaysMs.map((delayMs) => race(first, second, delayMs)));
  });
});

describe('stop and delete', () => {
  it('give the same answer when repeated', async () => {
    const { service } = fixture;
    const headers = { 'idempotency-key': 'again' };
    const prompt = script([{ say: 'working' }, { deaf: true }, { hang: true }]);
    const { runId } = await service.trigger({ prompt }, headers);
    const client = fixture.follow(runId, { name: 'reader' });
    await client.untilFrames(3, timeoutMs);
    const stop = () => service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 3 } });

    const first = await Promise.all(Array.from({ length: 20 }, stop));
    expect(first.map(({ status }) => status)).toEqual(first.map(() => 200));
    expect(first[0]?.data).toMatchObject({ runId, stopping: true });
    await service.untilEnded(runId);
    expect(await stop()).toMatchObject({ status: 200, data: { error: 'stopped_by_api' } });

    const deletes = await Promise.all(
      Array.from({ length: 20 }, () => service.call('DELETE', `/runs/${runId}`)),
    );
    const answers = deletes.map(({ status }) => status).sort();
    expect(answers).toEqual([200, ...Array.from({ length: 19 }, () => 404)]);
    expect((await stop()).status).toBe(404);
    const path = `/flows/${service.flowId}/runs`;
    const replay = await service.call('POST', path, { body: { prompt }, headers });
    expect(replay).toMatchObject({ status: 200, data: { runId, deleted: true } });
    const { run } = await fixture.expectInvariants(runId, { clients: [client] });
    expect(run.endCause).toBe('stopped_by_api');
  });

  it('accept one delete of a running run, and end the run', async () => {
    const { service } = fixture;
    const runId = await fixture.trigger(
      script([{ say: 'working' }, { deaf: true }, { hang: true }]),
    );
    const client = fixture.follow(runId, { name: 'reader' });
    await client.untilFrames(3, timeoutMs);
    const remove = () => service.call('DELETE', `/runs/${runId}`);
    const deletes = await Promise.all(Array.from({ length: 20 }, remove));
    const accepted = deletes.filter(({ status }) => status !== 404);
    expect(accepted).toMatchObject([{ status: 200, body: { data: { runId, deleted: true } } }]);
    for (const path of [`/runs/${runId}`, `/runs/${runId}/logs`, `/runs/${runId}/stream`])
      expect((await service.call('GET', path)).status, path).toBe(404);
    await client.untilFinished(timeoutMs);
    const { run, posts } = await fixture.expectInvariants(runId, { clients: [client] });
    expect(run.endCause).toBe('deleted_by_api');
    expect(posts).toHaveLength(1);
    expect(JSON.parse(posts[0]?.body ?? '')).toMatchObject({ error: 'deleted_by_api' });
    expect((await remove()).status).toBe(404);
  });
});
