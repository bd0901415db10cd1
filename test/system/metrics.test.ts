// The metrics and log lines about a run that succeeded, a run that was rejected, and a session that
// slept and was woken.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { repository } from '../../dev/lib/folders.ts';
import { freePort } from '../../dev/stack/ports.ts';
import type { Answer, RunRecord } from '../support/api-client.ts';
import { openConversation } from '../support/conversation.ts';
import { type LogLine, linesOf } from '../support/log-lines.ts';
import { isExported, type Selector, scrape, selectorsIn, valueOf } from '../support/metrics.ts';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const patiently = { timeout: 120_000, interval: 200 };
const ports = { api: 0, worker: 0, temporal: 0 };
let service: Service;
let receiver: WebhookReceiver;
let triggered: Answer<RunRecord>;
let refused: Answer;
let sessionRunId: string;
let samples: string[];

beforeAll(async () => {
  const env = { SESSION_IDLE_MS: '1500', SESSION_ATTENDED_IDLE_MS: '1500' };
  [service, receiver] = await Promise.all([startService({ env }), startReceiver()]);
  ports.api = await freePort();
  ports.worker = await freePort();
  ports.temporal = await freePort();
  await expect(scrape(ports.api)).rejects.toThrow('fetch failed');
  await Promise.all([service.api.kill('SIGTERM'), service.worker.kill('SIGTERM')]);
  await Promise.all([
    service.api.start({
      METRICS_PORT: String(ports.api),
      POSTGRES_DISK_DIR: '/',
      POSTGRES_DISK_RESERVE_BYTES: '1',
    }),
    service.worker.start({
      METRICS_PORT: String(ports.worker),
      METRICS_TEMPORAL_PORT: String(ports.temporal),
    }),
  ]);
  await makeRuns();
  await makeSession();
  const scraped = [scrape(ports.api), scrape(ports.worker), scrape(ports.temporal)];
  samples = (await Promise.all(scraped)).flat();
}, 400_000);
afterAll(() => Promise.all([service?.stop(), receiver?.close()]));

async function makeRuns(): Promise<void> {
  const { pool } = service.database;
  await pool.query('update projects set max_concurrent_runs = 1');
  const path = `/flows/${service.flowId}/runs`;
  const steps = [{ say: 'Hello' }, { callModel: 'Hi.' }, { sleepMs: 3_000 }, { say: 'there' }];
  const prompt = script(steps);
  const body = { prompt, callbackUrl: `${receiver.url}/hook` };
  const headers = { 'idempotency-key': 'used-twice' };
  triggered = await service.call<RunRecord>('POST', path, { body, headers });
  expect(triggered.status).toBe(201);
  refused = await service.call('POST', path, { body });
  expect(refused.status).toBe(429);
  expect((await service.call('POST', path, { body, headers })).status).toBe(200);
  expect((await service.call('GET', '/nothing')).status).toBe(404);
  expect((await service.untilEnded(triggered.data.runId)).error).toBeUndefined();
  await vi.waitFor(() => expect(receiver.posts).toHaveLength(1), patiently);
}

async function makeSession(): Promise<void> {
  const chat = await openConversation(service);
  sessionRunId = chat.runId;
  const body = { model: 'of-no-flow', max_tokens: 1, messages: [] };
  const url = '{{ANTHROPIC_BASE_URL}}/v1/messages';
  await chat.say(script([{ http: { url, method: 'POST', body } }, { say: 'One' }]));
  await vi.waitFor(() => expect(eventsOf(sessionRunId)).toContain('session_asleep'), patiently);
  await chat.say(script([{ say: 'Two' }]));
}

const allLines = (): LogLine[] => [...linesOf(service.api.log()), ...linesOf(service.worker.log())];

const eventsOf = (runId: string): unknown[] =>
  allLines()
    .filter((line) => line['runId'] === runId)
    .map(({ msg }) => msg);

const read = (file: string): string => readFileSync(join(repository, 'ops', file), 'utf8');

function expectAllExported(selectors: Selector[]): void {
  expect(selectors.length).toBeGreaterThan(15);
  expect(selectors.filter((selector) => !isExported(samples, selector))).toEqual([]);
}

describe('the metrics', () => {
  it('include all that the dashboard queries', () => {
    const { panels } = JSON.parse(read('grafana/flowrun.json')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expectAllExported(expressions.flatMap(selectorsIn));
  });

  it('include all that the alert rules query', () => {
    // A healthy service has answered no 5xx; another class proves that the label exists.
    const rules = read('prometheus/alerts.yml').replaceAll('status="5xx"', 'status="4xx"');
    expectAllExported(selectorsIn(rules));
  });

  it('have no series without a value', () => {
    expect(isExported(samples, { name: 'flowrun_nothing', labels: [] })).toBe(false);
    const wrong = { name: 'flowrun_hosts', labels: ['state="asleep"'] };
    expect(isExported(samples, wrong)).toBe(false);
  });

  it('count the runs, messages and requests', () => {
    const happened: [series: string, value: number][] = [
      ['flowrun_admissions_total{outcome="admitted"}', 1],
      ['flowrun_admissions_total{outcome="replay"}', 1],
      ['flowrun_admissions_total{outcome="CONCURRENT_LIMIT"}', 1],
      ['flowrun_http_errors_total{code="CONCURRENT_LIMIT"}', 1],
      ['flowrun_http_requests_total{method="GET",route="none",status="4xx"}', 1],
      ['flowrun_messages_total{outcome="stored"}', 2],
      ['flowrun_runs_ended_total{cause="completed"}', 1],
      ['flowrun_run_queue_seconds_count', 1],
      ['flowrun_run_duration_seconds_count', 1],
      ['flowrun_message_queue_seconds_count', 2],
      ['flowrun_sandbox_start_seconds_count{outcome="started"}', 3],
      ['flowrun_sandbox_start_wait_seconds_count', 3],
      ['flowrun_model_call_seconds_count{model="claude-opus-5-5",outcome="answered"}', 1],
      ['flowrun_model_calls_refused_total{reason="permission_error"}', 1],
      ['flowrun_webhook_attempt_seconds_count{outcome="delivered"}', 1],
      ['flowrun_hosts{state="live"}', 1],
      ['flowrun_runs{state="awake"}', 1],
      ['flowrun_sandboxes', 1],
      ['flowrun_dependency_up{dependency="postgres"}', 1],
      ['flowrun_dependency_up{dependency="temporal"}', 1],
    ];
    const seen = happened.map(([series]) => [series, valueOf(samples, series)]);
    expect(seen).toEqual(happened);
    expect(valueOf(samples, 'flowrun_frames_total')).toBeGreaterThan(5);
  });

  it('name no run, key, project, flow or path', () => {
    const text = samples.join('\n');
    const { projectId, flowId, key } = service;
    const names = [triggered.data.runId, sessionRunId, projectId, flowId, key, '/nothing'];
    expect(names.filter((name) => text.includes(name))).toEqual([]);
  });

  it('are not served on the public port', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404);
  });
});

describe('the log', () => {
  it('is JSON, line by line, each an event with its time', () => {
    for (const line of allLines()) {
      expect(line).toMatchObject({ level: expect.any(String), time: expect.any(String) });
      if (line['part'] === 'temporal') continue; // Temporal's own format
      expect(line['msg'], JSON.stringify(line)).toMatch(/^[a-z][a-z_]+$/);
    }
  });

  it('has each decision about a run once', () => {
    const events = eventsOf(triggered.data.runId).filter((event) => event !== 'request');
    const decisions = ['run_admitted', 'run_replayed', 'sandbox_created', 'sandbox_started'];
    const later = ['run_started', 'model_call', 'sandbox_ended', 'run_ended', 'webhook_attempt'];
    for (const decision of [...decisions, ...later]) {
      expect(events.filter((event) => event === decision)).toEqual([decision]);
    }
  });

  it('reports how a run ended, and the outcome of its webhook', () => {
    const { runId } = triggered.data;
    const linesOfRun = allLines().filter((line) => line['runId'] === runId);
    const line = (event: string) => linesOfRun.find(({ msg }) => msg === event);
    expect(line('run_ended')).toMatchObject({ cause: 'completed', exitCode: 0 });
    expect(line('webhook_attempt')).toMatchObject({ outcome: 'answered', status: 204, attempt: 1 });
  });

  it('reports when a session falls asleep and is woken', () => {
    const events = eventsOf(sessionRunId);
    const transitions = events.filter((event) =>
      /^session_(opened|awake|asleep)$/.test(String(event)),
    );
    expect(transitions.filter((event) => event === 'session_opened')).toHaveLength(1);
    expect(transitions.filter((event) => event === 'session_awake')).toHaveLength(2);
    expect(events.filter((event) => event === 'turn_started')).toHaveLength(2);
    expect(events.filter((event) => event === 'turn_ended')).toHaveLength(2);
    expect(events.filter((event) => event === 'message_stored')).toHaveLength(2);
  });

  it('leads from a request to its run', () => {
    const ofRequest = (answer: Answer<unknown>) => {
      const requestId = answer.headers.get('x-request-id');
      return linesOf(service.api.log()).filter(
        (line) => line['requestId'] === requestId && line['level'] !== 'debug',
      );
    };
    const { runId } = triggered.data;
    expect(ofRequest(triggered)).toMatchObject([
      { msg: 'run_admitted', runId },
      { msg: 'request', status: 201 },
    ]);
    expect(ofRequest(refused)).toMatchObject([
      { msg: 'run_rejected', code: 'CONCURRENT_LIMIT', limit: 1 },
      { msg: 'request', status: 429, code: 'CONCURRENT_LIMIT' },
    ]);
  });

  it('leads from a worker’s line about a run to the request that caused it', () => {
    const ofRequest = linesOf(service.worker.log()).filter(
      (line) =>
        line['requestId'] === triggered.headers.get('x-request-id') && line['level'] !== 'debug',
    );
    expect(ofRequest.filter(({ runId }) => runId !== triggered.data.runId)).toEqual([]);
    expect(ofRequest.map(({ msg }) => msg).sort()).toEqual([
      'model_call',
      'run_ended',
      'run_started',
      'sandbox_created',
      'sandbox_ended',
      'sandbox_started',
      'webhook_attempt',
    ]);
  });

  it('leads from every line about a run to a request that the API has answered', () => {
    const requests = linesOf(service.api.log()).filter(({ msg }) => msg === 'request');
    const known = new Set(requests.map(({ requestId }) => requestId));
    const about = allLines().filter(({ runId }) => runId !== undefined);
    const events = new Set(about.map(({ msg }) => msg));
    for (const event of ['session_awake', 'session_asleep', 'turn_started', 'message_delivered'])
      expect(events).toContain(event);
    expect(about.filter(({ requestId }) => !known.has(requestId))).toEqual([]);
  });

  it('leads from every line of a worker about a run to the one request that started it', () => {
    const requestsOf = new Map<unknown, Set<unknown>>();
    for (const { runId, requestId } of linesOf(service.worker.log())) {
      if (runId === undefined) continue;
      requestsOf.set(runId, (requestsOf.get(runId) ?? new Set()).add(requestId));
    }
    expect([...requestsOf.keys()].sort()).toEqual([triggered.data.runId, sessionRunId].sort());
    const opened = linesOf(service.api.log()).find(({ msg }) => msg === 'session_opened');
    const requestId = triggered.headers.get('x-request-id');
    expect([...(requestsOf.get(triggered.data.runId) ?? [])]).toEqual([requestId]);
    expect([...(requestsOf.get(sessionRunId) ?? [])]).toEqual([opened?.['requestId']]);
  });
});
