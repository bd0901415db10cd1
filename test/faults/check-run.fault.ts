import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../core/runs/run.ts';
import { admittedRun } from '../support/admitted-run.ts';
import { checkRun } from './check-run.ts';
import type { LoggedFrame, RunRecords } from './run-records.ts';
import type { ReceivedEvent, Transcript } from './support/transcript.ts';

const deliveryId = randomUUID();
const body = '{"error":null,"text":"Grüße"}';

const log: LoggedFrame[] = Array.from({ length: 20 }, (_, index) => ({
  seq: index + 1,
  event: index % 2 === 0 ? 'output' : 'assistant',
  data: JSON.stringify({ data: `#${index} 世界 \u0000` }),
}));

const asSeen = ({ seq, event, data }: LoggedFrame): ReceivedEvent => ({
  id: String(seq),
  event,
  data,
  at: seq,
});
const finished: ReceivedEvent = {
  id: '21',
  event: 'finished',
  data: '{"reason":"completed"}',
  at: 21,
};
const status: ReceivedEvent = { id: undefined, event: 'status', data: '{}', at: 0 };

function steady(events: ReceivedEvent[]): Transcript {
  return { name: 'steady client', connections: [{ lastEventId: undefined, events }] };
}

function reconnected(): Transcript {
  const seen = log.map(asSeen);
  return {
    name: 'reconnecting client',
    connections: [
      { lastEventId: undefined, events: [status, ...seen.slice(0, 7)] },
      { lastEventId: '7', events: [] },
      { lastEventId: '7', events: [status, ...seen.slice(7), finished] },
    ],
  };
}

const completeTranscript = (): Transcript => steady([status, ...log.map(asSeen), finished]);

function post(attempt: number) {
  const headers = { 'x-service-attempt': String(attempt), 'x-service-delivery-id': deliveryId };
  return { path: '/hook', headers, body, at: 0 };
}

const run = admittedRun({
  status: 'sleep',
  agentStatus: 'idle',
  startedAt: new Date(),
  endedAt: new Date(),
  endCause: 'completed',
  exitCode: 0,
  numTurns: 1,
  webhook: { state: 'delivered', attempts: 2, lastStatus: 204 },
  workflowStartedAt: new Date(),
  lastSeq: log.length,
});

/** Records of a flawless run, with the given overrides. */
function records(overrides: Partial<RunRecords> = {}): RunRecords {
  return {
    run,
    occupiesSlot: false,
    causes: ['completed'],
    wantsWebhook: true,
    webhookBody: body,
    deliveryId,
    logHead: { lastSeq: log.length, isFinal: true, leaseOwner: null },
    log,
    transcripts: [completeTranscript(), reconnected()],
    posts: [post(1), post(2)],
    isWebhookRejected: false,
    attempts: [
      { delivery: 0, attempt: 1, status: 500 },
      { delivery: 0, attempt: 2, status: 204 },
    ],
    containersLeft: [],
    containerHistory: { created: 1, started: 1, removed: 1 },
    foldersLeft: [],
    configLeft: false,
    workflow: 'closed',
    ...overrides,
  };
}

const noWebhook: Run['webhook'] = { state: 'none', attempts: 0, lastStatus: null };

/** That many failed attempts. */
function failedAttempts(count: number): Partial<RunRecords> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const attempts = numbers.map((attempt) => ({ delivery: 0, attempt, status: 500 }));
  const webhook = { state: 'dropped', attempts: count, lastStatus: 500 } as const;
  return { posts: numbers.map(post), attempts, run: { ...run, webhook } };
}

function ofAnotherCause(): Partial<RunRecords> {
  const other = '{"error":"stopped_by_api"}';
  return {
    webhookBody: other,
    posts: [
      { ...post(1), body: other },
      { ...post(2), body: other },
    ],
  };
}

function withFrames(change: (frames: ReceivedEvent[]) => ReceivedEvent[]): RunRecords {
  return records({ transcripts: [steady([status, ...change(log.map(asSeen)), finished])] });
}

describe('the checks of a run', () => {
  it('finds no violation if every invariant holds', () => {
    expect(checkRun(records())).toEqual([]);
  });

  it('accepts that a late client receives earlier text in one piece', () => {
    const [first, ...others] = log.map(asSeen);
    const data = JSON.stringify({ data: '#0 世界 \u0000' });
    const rendered: ReceivedEvent = { id: undefined, event: 'output', data, at: 0 };
    expect(first?.event).toBe('output');
    const late = steady([status, rendered, ...others, finished]);
    expect(checkRun(records({ transcripts: [late] }))).toEqual([]);
  });

  it.each<[string, (frames: ReceivedEvent[]) => ReceivedEvent[]]>([
    ['a missing frame', (frames) => frames.filter(({ id }) => id !== '9')],
    ['a missing first frame', (frames) => frames.slice(1)],
    ['a missing last frame', (frames) => frames.slice(0, -1)],
    ['a repeated frame', (frames) => [...frames.slice(0, 9), ...frames.slice(8)]],
    ['a repeated last frame', (frames) => [...frames, ...frames.slice(-1)]],
    [
      'swapped frames',
      ([a, b, c, d, ...rest]) => [a, b, d, c, ...rest].filter((one) => one !== undefined),
    ],
    [
      'a changed byte',
      (frames) =>
        frames.map((one) =>
          one.id === '12' ? { ...one, data: one.data.replace('世', '丗') } : one,
        ),
    ],
    [
      'another event name',
      (frames) => frames.map((one) => (one.id === '12' ? { ...one, event: 'user' } : one)),
    ],
    [
      'a frame that is not in the log',
      (frames) => [...frames, { ...finished, event: 'assistant' }],
    ],
  ])('finds %s in a transcript', (_what, change) => {
    expect(checkRun(withFrames(change))).toHaveLength(1);
  });

  it('finds frames that a client missed or received twice between two connections', () => {
    const lost = reconnected();
    lost.connections[2]?.events.splice(1, 1);
    const twice = reconnected();
    twice.connections[2]?.events.splice(1, 0, asSeen(log[6] ?? { seq: 0, event: '', data: '' }));
    expect(checkRun(records({ transcripts: [lost] }))).toHaveLength(1);
    expect(checkRun(records({ transcripts: [twice] }))).toHaveLength(1);
  });

  it.each<[string, ReceivedEvent[]]>([
    ['no finished event', []],
    ['two finished events', [finished, finished]],
    ['a finished event with another reason', [{ ...finished, data: '{"reason":"stopped"}' }]],
    ['a finished event with another id', [{ ...finished, id: '20' }]],
    ['an event after the finished event', [finished, status]],
    ['a reported gap', [{ ...status, event: 'replay_truncated' }, finished]],
  ])('finds %s', (_what, ends) => {
    const transcripts = [steady([status, ...log.map(asSeen), ...ends])];
    expect(checkRun(records({ transcripts }))).not.toEqual([]);
  });

  it.each<[string, Partial<RunRecords>]>([
    ['a run that is running', { run: { ...run, endedAt: null } }],
    ['an occupied slot', { occupiesSlot: true }],
    ['a second cause', { causes: ['stopped_by_api', 'completed'] }],
    ['a missing cause', { causes: [] }],
    ['a webhook without a body', { webhookBody: null }],
    ['a log that is not final', { logHead: { lastSeq: 20, isFinal: false, leaseOwner: null } }],
    ['a lease that has an owner', { logHead: { lastSeq: 20, isFinal: true, leaseOwner: 'h' } }],
    [
      'a log head with another number',
      { logHead: { lastSeq: 21, isFinal: true, leaseOwner: null } },
    ],
    ['a log with a missing frame', { log: log.filter(({ seq }) => seq !== 4), transcripts: [] }],
    ['a secret configuration that is not deleted', { configLeft: true }],
    ['a running workflow', { workflow: 'running' }],
    ['a container that is left', { containersLeft: ['abc'] }],
    ['a folder that is left', { foldersLeft: ['/x'] }],
    ['a second container', { containerHistory: { created: 2, started: 2, removed: 2 } }],
    ['a second start', { containerHistory: { created: 1, started: 2, removed: 1 } }],
    [
      'a container that was not removed',
      { containerHistory: { created: 1, started: 1, removed: 0 } },
    ],
    ['a pending webhook', { run: { ...run, webhook: { ...run.webhook, state: 'pending' } } }],
    ['a delivered webhook without a request', { posts: [] }],
    ['a webhook that was dropped although its receiver accepts it', failedAttempts(4)],
    ['a webhook without a state', { run: { ...run, webhook: noWebhook }, posts: [] }],
    ['an unrequested webhook', { wantsWebhook: false }],
    ['a webhook that was delivered although its receiver rejects it', { isWebhookRejected: true }],
    ['a request without a claimed attempt', { posts: [post(1), post(2), post(3)] }],
    ['a repeated attempt number', { posts: [post(1), post(1)] }],
    ['another body', { posts: [{ ...post(1), body: `${body} ` }] }],
    ['another delivery id', { deliveryId: randomUUID() }],
    ['a body with the error of another cause', ofAnotherCause()],
    [
      'an attempt after a success',
      {
        attempts: [
          { delivery: 0, attempt: 1, status: 204 },
          { delivery: 0, attempt: 2, status: 204 },
        ],
      },
    ],
  ])('finds %s', (_what, overrides) => {
    expect(checkRun(records(overrides))).not.toEqual([]);
  });

  it('accepts a run without a webhook', () => {
    const noDelivery = { wantsWebhook: false, webhookBody: null, deliveryId: null };
    const nothing = { posts: [], attempts: [], run: { ...run, webhook: noWebhook } };
    expect(checkRun(records({ ...noDelivery, ...nothing }))).toEqual([]);
  });

  it('accepts four requests to a rejecting receiver or none to an unreachable one, and finds a fifth', () => {
    expect(checkRun(records({ ...failedAttempts(4), isWebhookRejected: true }))).toEqual([]);
    expect(checkRun(records({ ...failedAttempts(4), posts: [], isWebhookRejected: true }))).toEqual(
      [],
    );
    const wrong = checkRun(records({ ...failedAttempts(5), isWebhookRejected: true }));
    expect(wrong).toEqual(['5 webhook requests arrived, more than 4']);
  });
});
