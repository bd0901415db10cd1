import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomText } from '../fixtures/scripted-agent/random-text.ts';
import type { RunRecord } from '../support/api-client.ts';
import { untilGatewayAnswers } from '../support/gateway.ts';
import { restartAfterFailpoint, restartWithFailpoint } from '../support/kill-process.ts';
import { linesOf } from '../support/log-lines.ts';
import { modelScript, script } from '../support/prompts.ts';
import { releaseAgent } from '../support/release-agent.ts';
import type { SentEvent } from '../support/sent-events.ts';
import { type Service, startService } from '../support/service.ts';
import { collect } from '../support/stream-story.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

let service: Service;
let receiver: WebhookReceiver;
beforeAll(async () => {
  [service, receiver] = await Promise.all([startService(), startReceiver()]);
}, 240_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

const lines = 2_000;
const shape = { seed: 11, longEvery: 50 };
const half = { lines, seed: shape.seed, longEvery: shape.longEvery };
/** Writes a lot, waits until the test releases it, and writes as much again. */
const twoHalves = script([half, { waitForFile: 'go-on' }, half, { say: 'the last word' }]);

describe('a run whose worker is killed', { timeout: 300_000 }, () => {
  it.each(['while it writes', 'while it waits'])('continues, %s, and succeeds', async (when) => {
    const { runId } = await service.trigger({ prompt: twoHalves });
    const reading = collect(service.stream(runId));
    const expected = when === 'while it writes' ? 1 : lines;
    await expect.poll(() => framesOf(runId), { timeout: 120_000 }).toBeGreaterThan(expected);
    await service.worker.kill('SIGKILL');
    releaseAgent(service, runId);
    await service.worker.start();
    const ended = await service.untilEnded(runId, 120_000);
    expect(ended).toMatchObject({ exitCode: 0, result: 'the last word' });
    expect(ended).not.toHaveProperty('error');
    expectWhole(await reading);
    await expectLogs(runId);
  });

  it('continues when the worker is stopped and started again', async () => {
    const { runId } = await service.trigger({ prompt: twoHalves });
    await expect.poll(() => framesOf(runId), { timeout: 120_000 }).toBeGreaterThan(10);
    await service.worker.kill('SIGTERM');
    const own = (await service.sandboxes.list()).filter((each) => each.runId === runId);
    expect(own.map((each) => each.state)).toEqual(['running']);
    releaseAgent(service, runId);
    await service.worker.start();
    expect(await service.untilEnded(runId, 120_000)).toMatchObject({ exitCode: 0 });
    await expectLogs(runId);
  });

  it('is stopped as requested, although no worker was running', async () => {
    const prompt = script([{ say: 'working' }, { hang: true }]);
    const { runId } = await service.trigger({ prompt });
    await expect.poll(() => framesOf(runId), { timeout: 120_000 }).toBeGreaterThan(3);
    await service.worker.kill('SIGKILL');
    const body = { graceSeconds: 1 };
    expect((await service.call('POST', `/runs/${runId}/stop`, { body })).status).toBe(200);
    await service.worker.start();
    const ended = await service.untilEnded(runId, 120_000);
    expect(ended).toMatchObject({ error: 'stopped_by_api' });
    await expect.poll(() => service.sandboxes.list(), { timeout: 60_000 }).toEqual([]);
  });
});

describe('a model call whose worker is killed', { timeout: 300_000 }, () => {
  it('is in the ledger once, with an estimate in place of its reservation', async () => {
    const asked = service.model.requests().length;
    // It reserves $0.0077 for its length, and is estimated at $0.0031.
    const content = `${'x'.repeat(1_000)} ${modelScript([{ delayMs: 60_000 }])}`;
    const steps = [{ usage: { output_tokens: 10 } }, { text: 'Paid.' }];
    const paid = { content: modelScript(steps), maxTokens: 150 };
    const prompt = script([
      { callModels: { times: 1, content, maxTokens: 100 } },
      { waitForFile: 'worker-is-back' },
      { callModels: { times: 1, ...paid } },
      { waitForFile: 'go-on' },
      { callModels: { times: 100, ...paid } },
      { hang: true },
    ]);
    const { runId } = await service.trigger({ prompt, maxBudgetUsd: 0.01 });
    await expect
      .poll(() => service.model.requests().length, { timeout: 120_000 })
      .toBeGreaterThan(asked);
    await service.worker.kill('SIGKILL');
    expect(await ledgerOf(runId)).toEqual([]);
    await sleep(2_000); // so that the model has written everything, as the estimate assumes
    await service.worker.start();
    await untilGatewayAnswers(service, runId);
    releaseAgent(service, runId, { file: 'worker-is-back' });

    // The second call reserves $0.0037, so it would not fit beside the first one's reservation.
    await expect.poll(() => ledgerOf(runId), { timeout: 120_000 }).toHaveLength(2);
    const [killed, next] = await ledgerOf(runId);
    expect(killed).toMatchObject({ status: null, isEstimated: true, outputTokens: 100 });
    expect(next).toMatchObject({ status: 200, isEstimated: false, outputTokens: 10 });
    const spent = (killed?.nanos ?? 0) + (next?.nanos ?? 0);
    expect((await service.readRun(runId)).costUsd).toBe(Math.round(spent / 1_000) / 1e6);

    releaseAgent(service, runId);
    const ended = await service.untilEnded(runId, 120_000);
    expect(ended.error).toBe('budget_exceeded');
    expect(ended.costUsd).toBeLessThanOrEqual(0.01);
    const all = await ledgerOf(runId);
    expect(all.length).toBeGreaterThan(2);
    const total = all.reduce((sum, { nanos }) => sum + nanos, 0);
    expect(ended.costUsd).toBe(Math.round(total / 1_000) / 1e6);
    const logged = linesOf(service.worker.log()).filter(
      (line) => line['runId'] === runId && line['msg'] === 'model_call',
    );
    expect(logged).toHaveLength(all.length);
  });
});

describe('a reader whose API is killed', { timeout: 300_000 }, () => {
  it('reconnects and misses nothing', async () => {
    const { runId } = await service.trigger({ prompt: twoHalves });
    const before: SentEvent[] = [];
    const reading = readInto(before, runId);
    await expect.poll(() => before.length, { timeout: 120_000 }).toBeGreaterThan(100);
    await service.api.kill('SIGKILL');
    await reading;
    releaseAgent(service, runId);
    await service.api.start();
    const lastId = before.findLast(({ id }) => id !== undefined)?.id ?? '0';
    const after = await collect(service.stream(runId, lastId));
    expectWhole([...before, ...after]);
  });
});

describe('a run whose API dies once it is admitted', { timeout: 300_000 }, () => {
  it('is started once, and its webhook is repeated if the worker dies after sending it', async () => {
    await Promise.all([
      restartWithFailpoint(service.api, 'trigger.admitted'),
      restartWithFailpoint(service.worker, 'webhook.sent'),
    ]);
    const prompt = script([{ shell: 'echo ran >> ran; cat ran' }, { say: 'once' }]);
    const request = {
      body: { prompt, callbackUrl: `${receiver.url}/hook` },
      headers: { 'idempotency-key': 'dies' },
    };
    const trigger = () => service.call<RunRecord>('POST', `/flows/${service.flowId}/runs`, request);
    await expect(trigger()).rejects.toThrow();
    await restartAfterFailpoint(service.api);
    const again = await Promise.all([trigger(), trigger()]);
    expect(again.map(({ status }) => status)).toEqual([200, 200]);
    const { runId } = again[0].data;
    expect(again[1].data.runId).toBe(runId);

    await restartAfterFailpoint(service.worker);
    const webhook = async () => (await service.readRun(runId)).webhook;
    const delivered = { state: 'delivered', attempts: 2, lastStatus: 204 };
    await expect.poll(webhook, { timeout: 120_000 }).toEqual(delivered);
    expect(await service.readRun(runId)).toMatchObject({ exitCode: 0, result: 'once' });
    expect(receiver.posts.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
    expect(new Set(receiver.posts.map(({ body }) => body)).size).toBe(1);
    const ran = await service.call('GET', `/runs/${runId}/files/ran`);
    expect(ran).toMatchObject({ status: 200, body: 'ran\n' });
    const { rows } = await service.database.pool.query(
      `select id from runs where workflow_id like '%/dies/%'`,
    );
    expect(rows).toEqual([{ id: runId }]);
  });
});

async function ledgerOf(runId: string) {
  const { rows } = await service.database.pool.query<{
    status: number | null;
    isEstimated: boolean;
    outputTokens: number;
    nanos: number;
  }>(
    `select status, is_estimated as "isEstimated", output_tokens as "outputTokens",
            cost_nanos as nanos
     from model_calls where run_id = $1 order by started_at`,
    [runId],
  );
  return rows;
}

async function readInto(events: SentEvent[], runId: string): Promise<void> {
  try {
    for await (const event of service.stream(runId)) events.push(event);
  } catch {
    // The test cuts the connection.
  }
}

async function framesOf(runId: string): Promise<number> {
  const { rows } = await service.database.pool.query<{ count: number }>(
    'select last_seq as count from run_logs where run_id = $1',
    [runId],
  );
  return rows[0]?.count ?? 0;
}

const expected = Array.from({ length: lines }, (_, index) => randomText(index, shape));
const twice = [...expected, ...expected];

/** Every line once, in order, with ids without a gap; then the end. */
function expectWhole(events: SentEvent[]): void {
  const ids = events.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
  expect(ids.every((id, index) => index === 0 || id === (ids[index - 1] ?? 0) + 1)).toBe(true);
  expect(textsOf(events).filter((text) => text !== 'the last word')).toEqual(twice);
  expect(events.at(-1)?.event).toBe('finished');
}

function textsOf(events: { event: string; data: string }[]): string[] {
  return events
    .filter(({ event }) => event === 'assistant')
    .map(({ data }) => (JSON.parse(data) as AssistantLine).message.content[0]?.text ?? '');
}

interface AssistantLine {
  message: { content: { text?: string }[] };
}

async function expectLogs(runId: string): Promise<void> {
  const { rows } = await service.database.pool.query<{ event: string; data: string }>(
    'select event, data from frames where run_id = $1 order by seq',
    [runId],
  );
  expect(textsOf(rows).filter((text) => text !== 'the last word')).toEqual(twice);
}
