import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createFlowStore, type NewFlow } from '../../systems/postgres/accounts/flow-store.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import type { RunRecord } from '../support/api-client.ts';
import { expectClosed } from '../support/expect-closed.ts';
import { script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import { untilWorking } from '../support/run-states.ts';
import { type Service, startService } from '../support/service.ts';
import { stackEnv } from '../support/stack-env.ts';
import { collect } from '../support/stream-story.ts';

const onGvisor = stackEnv.sandboxRuntime === 'runsc';
const miB = 1024 ** 2;
const secondMs = 1_000;
/** A booting agent prints nothing either, and must be much faster even on a busy machine. */
const stallMs = 30 * secondMs;
/** An agent must exit on its own faster than this. */
const graceMs = 5 * secondMs;

/** For `vi.waitUntil`: `expect.poll` does not know which of several running tests calls it. */
const until = { timeout: 60_000, interval: 100 };

let service: Service;
beforeAll(async () => {
  const env = {
    STALL_TIMEOUT_MS: String(stallMs),
    AFTER_RESULT_GRACE_MS: String(graceMs),
    SPOOL_MAX_BYTES: String(2 * miB),
    WORKSPACE_MAX_BYTES: String(20 * miB),
    WORKSPACE_MAX_INODES: '2000',
  };
  service = await startService({ env });
  await service.database.pool.query('update projects set max_concurrent_runs = 100');
}, 240_000);
afterAll(() => service?.stop());

async function inFlow(flow: Partial<NewFlow>, body: Record<string, unknown>): Promise<RunRecord> {
  const flows = createFlowStore(service.database.pool, createSealer(service.encryptionKey));
  const { projectId } = service;
  const { flowId } = await flows.create({ projectId, name: 'Bounded', ...flow });
  const answer = await service.call<RunRecord>('POST', `/flows/${flowId}/runs`, { body });
  expect(answer.status).toBe(201);
  return answer.data;
}

const run = (steps: readonly unknown[], body: Record<string, unknown> = {}): Promise<RunRecord> =>
  service.trigger({ prompt: script(steps), ...body });

/** The run and its workflow have ended, and nothing is left running. */
async function expectEnd(runId: string, end: object): Promise<RunRecord> {
  const ended = await service.untilEnded(runId, 120_000);
  expect(ended).toMatchObject({ status: 'sleep', ...end });
  const isGone = async (): Promise<boolean> =>
    (await service.sandboxes.list()).every((sandbox) => sandbox.runId !== runId);
  await vi.waitUntil(isGone, until);
  return expectClosed(service, ended);
}

/** The engine's exit code after SIGTERM, or on a busy machine after SIGKILL. */
const forced: unknown = expect.toSatisfy((code) => code === 143 || code === 137);

async function expectClean(runId: string, end: object = {}): Promise<void> {
  const ended = await expectEnd(runId, { exitCode: 0, ...end });
  expect(ended).not.toHaveProperty('error');
}

/** Whether the last entry of a run's log contains a text. */
async function endsWith(runId: string, text: string): Promise<boolean> {
  const path = `/runs/${runId}/logs?format=structured&channel=all&order=desc&limit=1`;
  const { data } = await service.call<{ entries: object[] }>('GET', path);
  return JSON.stringify(data.entries).includes(text);
}

const makeFiles = (count: number): object => ({
  shell: `mkdir many && cd many && seq 1 ${count} | xargs touch`,
});
const patiently = { timeout: 180_000 };

// Tests of this group mostly wait, so they run at the same time.
describe.concurrent('a run', patiently, () => {
  it('that exceeds its time limit is timed_out, one that finishes before is not', async () => {
    const late = await run([{ say: 'on and on' }, { hang: true }], { timeoutSeconds: 6 });
    // Also if its sandbox was not up by then.
    const shortest = await run([{ hang: true }], { timeoutSeconds: 1 });
    const early = await run([{ sleepMs: secondMs }], { timeoutSeconds: 120 });
    const reading = collect(service.stream(late.runId));
    await expectClean(early.runId);
    await expectEnd(late.runId, { error: 'timed_out' });
    await expectEnd(shortest.runId, { error: 'timed_out' });
    expect(JSON.parse((await reading).at(-1)?.data ?? '{}')).toMatchObject({ reason: 'error' });
  });

  it('whose agent prints nothing for too long is stalled, one that prints in time is not', async () => {
    const silent = await run([{ say: 'one moment' }, { hang: true }]);
    const slow = { repeat: 3, steps: [{ sleepMs: 0.4 * stallMs }, { say: 'still here' }] };
    const speaking = await run([slow]);
    await expectEnd(silent.runId, { error: 'stalled', agentStatus: 'error' });
    await expectClean(speaking.runId);
  });

  it('whose agent stays after its result is hung_after_result, with that result', async () => {
    const good = await run([{ say: 'done' }, { hangAfterResult: true }]);
    const bad = await run([{ hangAfterResult: true }, { fail: 'no' }]);
    const unresponsive = await run([{ deaf: true }, { trapTerm: true }, { say: 'done' }]);
    const hung = { error: 'hung_after_result', exitCode: forced };
    await expectEnd(good.runId, { ...hung, result: 'done', agentStatus: 'idle' });
    await expectEnd(bad.runId, { ...hung, agentStatus: 'error' });
    await expectEnd(unresponsive.runId, { ...hung, exitCode: 137, result: 'done' });
  });

  it('whose agent prints no result is no_result; one that fails has its exit code', async () => {
    const quiet = await run([{ say: 'nothing more' }, { noResult: true }]);
    const staying = await run([{ noResult: true }, { hangAfterResult: true }]);
    const leaving = await run([{ say: 'cut off' }, { exit: 0 }]);
    const failing = await run([{ say: 'cut off' }, { exit: 3 }]);
    const mute = { error: 'no_result', result: null, agentStatus: 'error' };
    await expectEnd(quiet.runId, { ...mute, exitCode: 0 });
    await expectEnd(leaving.runId, { ...mute, exitCode: 0 });
    await expectEnd(staying.runId, { ...mute, exitCode: forced });
    const failed = { error: 'Process exited with code 3', exitCode: 3 };
    await expectEnd(failing.runId, { ...mute, ...failed });
  });

  it('whose agent fails after its result has its exit code; a repeated result is no error', async () => {
    const failing = await run([{ say: 'done' }, { exitAfterResult: 1 }]);
    const twice = await run([{ say: 'done' }, { doubleResult: true }]);
    const failed = { error: 'Process exited with code 1', exitCode: 1 };
    await expectEnd(failing.runId, { ...failed, result: 'done', agentStatus: 'idle' });
    await expectClean(twice.runId, { result: 'done' });
  });

  it('that ends while its agent waits does not report the wait forever', async () => {
    const options = [{ label: 'Red', description: '' }];
    const question = { question: 'Which colour?', header: 'Paint', multiSelect: false, options };
    const { runId } = await run([{ ask: { questions: [question] } }, { say: 'done' }]);
    const reading = collect(service.stream(runId));
    const isWaiting = async () => (await service.readRun(runId)).agentStatus === 'waiting';
    await vi.waitUntil(isWaiting, until);
    await service.call('POST', `/runs/${runId}/stop`, { body: { graceSeconds: 0 } });
    await expectEnd(runId, { error: 'stopped_by_api', agentStatus: 'error' });
    const last = (await reading).findLast(({ event }) => event === 'status');
    expect(JSON.parse(last?.data ?? '{}')).toEqual({ status: 'sleep', agentStatus: 'error' });
  });

  it('whose memory runs out is out_of_memory; one that only loses a child process continues', async () => {
    const small = { resources: { memoryBytes: 200 * miB, cpus: 1 } };
    const own = await inFlow(small, { prompt: script([{ oom: true }]) });
    const child = await inFlow(small, { prompt: script([{ oom: 'child' }]) });
    const dies = { error: 'out_of_memory', exitCode: 137 };
    await expectEnd(own.runId, dies);
    await (onGvisor ? expectEnd(child.runId, dies) : expectClean(child.runId)); // ends as a whole
  });

  it('whose disk is full is disk_full: too many bytes, files or lines of output', async () => {
    const offences = [
      [{ fill: { path: 'big', mb: 21 } }, { hang: true }],
      [makeFiles(2_001), { hang: true }],
      [{ lines: 1_000_000 }],
      [{ lines: 8_000 }, { exit: 0 }],
    ];
    const runs = await Promise.all(offences.map((steps) => run(steps)));
    for (const { runId } of runs) await expectEnd(runId, { error: 'disk_full' });
  });

  it('that stays below every disk limit succeeds', async () => {
    const steps = [{ fill: { path: 'big', mb: 19 } }, makeFiles(10), { lines: 1_000 }];
    const { runId } = await run([...steps, { sleepMs: 0.4 * stallMs }]);
    const many = await run([makeFiles(1_900), { sleepMs: 0.4 * stallMs }]);
    await expectClean(runId);
    await expectClean(many.runId);
  });

  it('whose agent cuts its output short is output_tampered', async () => {
    const cut = await run([
      { lines: 500 },
      { say: 'written' },
      { waitForFile: '/workspace/go-on' },
      { truncateSpool: true },
      { hang: true },
    ]);
    // Truncating output that was not read yet is undetectable.
    await vi.waitUntil(() => endsWith(cut.runId, 'written'), until);
    releaseAgent(service, cut.runId);
    await expectEnd(cut.runId, { error: 'output_tampered' });
  });

  it('whose sandbox cannot be created is container_start_failed, and occupies no slot', async () => {
    const { runId } = await inFlow({ image: 'nowhere/none:1' }, { prompt: 'x' });
    const reading = collect(service.stream(runId));
    await expectEnd(runId, {
      error: 'container_start_failed: no such image',
      startedAt: null,
      agentStatus: null,
      exitCode: null,
    });
    expect(JSON.parse((await reading).at(-1)?.data ?? '{}')).toMatchObject({
      reason: 'no_upstream',
    });
  });

  it('is not ended while its background task is working', async () => {
    const background = { sleepMs: 2.5 * graceMs, steps: [{ say: 'the last word' }] };
    const longTurn = [{ sleepMs: 1.5 * graceMs }, { say: 'the very last word' }];
    const { runId } = await run([
      { background },
      { background: { ...background, steps: longTurn } },
      { say: 'the first word' },
    ]);
    const events = collect(service.stream(runId));
    await expectClean(runId, { result: 'the very last word', numTurns: 3 });
    const changes = (await events).filter(({ event }) => event === 'agent_status');
    const statuses = changes.map(({ data }) => (JSON.parse(data) as { status: string }).status);
    const eachTurn = ['working', 'idle'];
    expect(statuses.slice(-6)).toEqual([...eachTurn, ...eachTurn, ...eachTurn]);
    const results = (await events).filter(({ event }) => event === 'result');
    expect(results).toHaveLength(3);
  });

  it('that waits for a silent background task is hung_after_result', async () => {
    const { runId } = await run([
      { background: { sleepMs: 600 * secondMs, steps: [] } },
      { say: 'done' },
    ]);
    await expectEnd(runId, { error: 'hung_after_result', result: 'done' });
  });
});

it('a restarted host ends runs that stay after a result, or without one', patiently, async () => {
  const stays = [
    { steps: [{ say: 'done' }], end: { error: 'hung_after_result', result: 'done' } },
    { steps: [{ noResult: true }], end: { error: 'no_result', result: null } },
  ];
  const runAll = (...first: object[]) =>
    Promise.all(
      stays.map(async ({ steps, end }) => {
        const { runId } = await run([...first, ...steps, { hangAfterResult: true }]);
        return { runId, end };
      }),
    );
  const during = await runAll({ waitForFile: 'go-on' });
  for (const one of during) await untilWorking(service, one);
  const before = await runAll();
  for (const { runId } of before)
    await vi.waitUntil(() => endsWith(runId, '"completed"'), { ...until, interval: 20 });
  await service.worker.kill('SIGKILL');
  for (const { runId } of during) releaseAgent(service, runId);
  await service.worker.start();
  for (const { runId, end } of [...during, ...before]) await expectEnd(runId, end);
});
