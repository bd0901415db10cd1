import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Run } from '../../core/runs/run.ts';
import { admittedRun } from '../support/admitted-run.ts';
import { checkRun } from './check.ts';
import type { Evidence, LoggedFrame } from './evidence.ts';
import type { SeenEvent, Transcript } from './support/transcript.ts';

const deliveryId = randomUUID();
const body = '{"error":null,"text":"Grüße"}';

const log: LoggedFrame[] = Array.from({ length: 20 }, (_, index) => ({
  seq: index + 1,
  event: index % 2 === 0 ? 'output' : 'assistant',
  data: JSON.stringify({ data: `#${index} 世界 \u0000` }),
}));

const asSeen = ({ seq, event, data }: LoggedFrame): SeenEvent => ({
  id: String(seq),
  event,
  data,
  at: seq,
});
const finished: SeenEvent = { id: '21', event: 'finished', data: '{"reason":"completed"}', at: 21 };
const status: SeenEvent = { id: undefined, event: 'status', data: '{}', at: 0 };

function stayed(events: SeenEvent[]): Transcript {
  return { name: 'who stays', connections: [{ lastEventId: undefined, events }] };
}

function cameBack(): Transcript {
  const seen = log.map(asSeen);
  return {
    name: 'who comes back',
    connections: [
      { lastEventId: undefined, events: [status, ...seen.slice(0, 7)] },
      { lastEventId: '7', events: [] },
      { lastEventId: '7', events: [status, ...seen.slice(7), finished] },
    ],
  };
}

const wholeTranscript = (): Transcript => stayed([status, ...log.map(asSeen), finished]);

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

/** Evidence of a flawless run, with the given overrides. */
function evidence(given: Partial<Evidence> = {}): Evidence {
  return {
    run,
    occupiesSlot: false,
    causes: ['completed'],
    wantsWebhook: true,
    webhookBody: body,
    deliveryId,
    cursor: { lastSeq: log.length, closed: true, leaseOwner: null },
    log,
    transcripts: [wholeTranscript(), cameBack()],
    posts: [post(1), post(2)],
    isRefused: false,
    attempts: [
      { delivery: 0, attempt: 1, status: 500 },
      { delivery: 0, attempt: 2, status: 204 },
    ],
    containersLeft: [],
    containerHistory: { created: 1, started: 1, removed: 1 },
    foldersLeft: [],
    configLeft: false,
    workflow: 'closed',
    ...given,
  };
}

const noWebhook: Run['webhook'] = { state: 'none', attempts: 0, lastStatus: null };

/** That many failed attempts. */
function refused(count: number): Partial<Evidence> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const attempts = numbers.map((attempt) => ({ delivery: 0, attempt, status: 500 }));
  const webhook = { state: 'dropped', attempts: count, lastStatus: 500 } as const;
  return { posts: numbers.map(post), attempts, run: { ...run, webhook } };
}

function ofAnotherCause(): Partial<Evidence> {
  const other = '{"error":"stopped_by_api"}';
  return {
    webhookBody: other,
    posts: [
      { ...post(1), body: other },
      { ...post(2), body: other },
    ],
  };
}

function withFrames(change: (frames: SeenEvent[]) => SeenEvent[]): Evidence {
  return evidence({ transcripts: [stayed([status, ...change(log.map(asSeen)), finished])] });
}

describe('the checker', () => {
  it('finds no violation if every invariant holds', () => {
    expect(checkRun(evidence())).toEqual([]);
  });

  it('accepts that a late client receives earlier text in one piece', () => {
    const [first, ...others] = log.map(asSeen);
    const data = JSON.stringify({ data: '#0 世界 \u0000' });
    const rendered: SeenEvent = { id: undefined, event: 'output', data, at: 0 };
    expect(first?.event).toBe('output');
    const late = stayed([status, rendered, ...others, finished]);
    expect(checkRun(evidence({ transcripts: [late] }))).toEqual([]);
  });

  it.each<[string, (frames: SeenEvent[]) => SeenEvent[]]>([
    ['a hole', (frames) => frames.filter(({ id }) => id !== '9')],
    ['a hole at the beginning', (frames) => frames.slice(1)],
    ['a hole at the end', (frames) => frames.slice(0, -1)],
    ['a double', (frames) => [...frames.slice(0, 9), ...frames.slice(8)]],
    ['a double at the end', (frames) => [...frames, ...frames.slice(-1)]],
    ['a swap', ([a, b, c, d, ...rest]) => [a, b, d, c, ...rest].filter((one) => one !== undefined)],
    [
      'a changed byte',
      (frames) =>
        frames.map((one) =>
          one.id === '12' ? { ...one, data: one.data.replace('世', '丗') } : one,
        ),
    ],
    [
      'another name',
      (frames) => frames.map((one) => (one.id === '12' ? { ...one, event: 'user' } : one)),
    ],
    ['a frame that the log has not', (frames) => [...frames, { ...finished, event: 'assistant' }]],
  ])('sees %s in a transcript', (_what, change) => {
    expect(checkRun(withFrames(change))).toHaveLength(1);
  });

  it('finds frames that a client missed or received twice between two connections', () => {
    const lost = cameBack();
    lost.connections[2]?.events.splice(1, 1);
    const twice = cameBack();
    twice.connections[2]?.events.splice(1, 0, asSeen(log[6] ?? { seq: 0, event: '', data: '' }));
    expect(checkRun(evidence({ transcripts: [lost] }))).toHaveLength(1);
    expect(checkRun(evidence({ transcripts: [twice] }))).toHaveLength(1);
  });

  it.each<[string, SeenEvent[]]>([
    ['no end', []],
    ['two ends', [finished, finished]],
    ['an end with another reason', [{ ...finished, data: '{"reason":"stopped"}' }]],
    ['an end with another number', [{ ...finished, id: '20' }]],
    ['something after the end', [finished, status]],
    ['a reported gap', [{ ...status, event: 'replay_truncated' }, finished]],
  ])('sees %s', (_what, ends) => {
    const transcripts = [stayed([status, ...log.map(asSeen), ...ends])];
    expect(checkRun(evidence({ transcripts }))).not.toEqual([]);
  });

  it.each<[string, Partial<Evidence>]>([
    ['a run that is running', { run: { ...run, endedAt: null } }],
    ['an occupied slot', { occupiesSlot: true }],
    ['a second cause', { causes: ['stopped_by_api', 'completed'] }],
    ['a missing cause', { causes: [] }],
    ['a webhook without a body', { webhookBody: null }],
    ['a log that is open', { cursor: { lastSeq: 20, closed: false, leaseOwner: null } }],
    ['a lease that is held', { cursor: { lastSeq: 20, closed: true, leaseOwner: 'h' } }],
    ['a cursor elsewhere', { cursor: { lastSeq: 21, closed: true, leaseOwner: null } }],
    ['a hole in the log', { log: log.filter(({ seq }) => seq !== 4), transcripts: [] }],
    ['a configuration that is kept', { configLeft: true }],
    ['a running workflow', { workflow: 'running' }],
    ['a container that is left', { containersLeft: ['abc'] }],
    ['a folder that is left', { foldersLeft: ['/x'] }],
    ['a second container', { containerHistory: { created: 2, started: 2, removed: 2 } }],
    ['a second start', { containerHistory: { created: 1, started: 2, removed: 1 } }],
    ['a removal that never came', { containerHistory: { created: 1, started: 1, removed: 0 } }],
    ['a webhook that is owed', { run: { ...run, webhook: { ...run.webhook, state: 'pending' } } }],
    ['a webhook that no receiver got', { posts: [] }],
    ['a webhook that was given up with a good receiver', refused(4)],
    ['a webhook that was never claimed', { run: { ...run, webhook: noWebhook }, posts: [] }],
    ['an unrequested webhook', { wantsWebhook: false }],
    ['a webhook that was delivered to a receiver that takes none', { isRefused: true }],
    ['an unclaimed post', { posts: [post(1), post(2), post(3)] }],
    ['an attempt made twice', { posts: [post(1), post(1)] }],
    ['another body', { posts: [{ ...post(1), body: `${body} ` }] }],
    ['another delivery', { deliveryId: randomUUID() }],
    ['a body that names another cause', ofAnotherCause()],
    [
      'an attempt after a success',
      {
        attempts: [
          { delivery: 0, attempt: 1, status: 204 },
          { delivery: 0, attempt: 2, status: 204 },
        ],
      },
    ],
  ])('sees %s', (_what, given) => {
    expect(checkRun(evidence(given))).not.toEqual([]);
  });

  it('accepts a run without a webhook', () => {
    const untold = { wantsWebhook: false, webhookBody: null, deliveryId: null };
    const nothing = { posts: [], attempts: [], run: { ...run, webhook: noWebhook } };
    expect(checkRun(evidence({ ...untold, ...nothing }))).toEqual([]);
  });

  it('accepts four posts to a rejecting receiver or none to an unreachable one, and finds a fifth', () => {
    expect(checkRun(evidence({ ...refused(4), isRefused: true }))).toEqual([]);
    expect(checkRun(evidence({ ...refused(4), posts: [], isRefused: true }))).toEqual([]);
    const wrong = checkRun(evidence({ ...refused(5), isRefused: true }));
    expect(wrong).toEqual(['5 posts were made']);
  });
});
