import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  Flowrun,
  isFlowrunError,
  NotFound,
  PreconditionFailed,
  type RunEvent,
  RunFailed,
  Unauthorized,
  ValidationError,
} from '../../client/index.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { saying, script } from '../support/prompts.ts';
import { asking, colour } from '../support/questions.ts';
import { type Service, startService } from '../support/service.ts';
import { story, storyPrompt } from '../support/stream-story.ts';

let service: Service;
let flowrun: Flowrun;
beforeAll(async () => {
  service = await startService({ flow: { name: 'writer' } });
  flowrun = new Flowrun({ url: service.url, key: service.key });
}, 240_000);
afterAll(() => service?.stop());

interface LoggedFrame {
  seq: number;
  event: string;
  data: unknown;
}

async function logOf(runId: string): Promise<LoggedFrame[]> {
  const path = `/runs/${runId}/logs?format=structured&channel=all&limit=1000`;
  const { data } = await service.call<{ entries: LoggedFrame[] }>('GET', path);
  return data.entries.map(({ seq, event, data: payload }) => ({ seq, event, data: payload }));
}

/** The events that are stored, in the form of the log. */
const stored = (events: RunEvent[]): LoggedFrame[] =>
  events.flatMap(({ type, seq, data, ...event }) => {
    const name = 'name' in event ? event.name : type;
    return seq === null || type === 'finished' ? [] : [{ seq, event: name, data }];
  });

describe('a run through the client', () => {
  it('starts by the name of its flow, is followed to its end, and returns its result', async () => {
    const run = await flowrun.run('writer', { prompt: storyPrompt(), labels: { order: '4711' } });
    expect(run.record).toMatchObject({ flowId: service.flowId, labels: { order: '4711' } });
    const events: RunEvent[] = [];
    for await (const event of run.events()) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'finished', data: { reason: 'completed' } });
    expect(stored(events)).toEqual(await logOf(run.runId));
    const { text, costUsd, run: ended } = await run.result();
    expect({ text, costUsd }).toEqual({ text: story.farewell, costUsd: expect.any(Number) });
    expect(ended.finishedAt).not.toBeNull();
    expect(await run.files.readText(story.file)).toBe(story.content);
  });

  it('gets each event once through a proxy that cuts its stream', async () => {
    const proxy = await openCuttingProxy(service.url, {
      bytesOf: (cut) => 400 + 300 * cut,
      cutsMax: 6,
    });
    try {
      const throughProxy = new Flowrun({ url: proxy.url, key: service.key });
      const run = await throughProxy.run('writer', { prompt: storyPrompt() });
      const events: RunEvent[] = [];
      for await (const event of run.events()) events.push(event);
      expect(proxy.cuts()).toBeGreaterThan(3);
      expect(stored(events)).toEqual(await logOf(run.runId));
      expect(events.filter(({ type }) => type === 'finished')).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });

  it('throws RunFailed with the cause of an end that is not clean', async () => {
    const run = await flowrun.run('writer', { prompt: script([{ hang: true }]) });
    const failed = run.result().catch((error: unknown) => error);
    await run.stop();
    const error = await failed;
    expect(error).toBeInstanceOf(RunFailed);
    expect(error).toMatchObject({ cause: 'stopped_by_api', run: { runId: run.runId } });
    expect(isFlowrunError(error, 'RUN_FAILED')).toBe(true);
  });
});

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

it('sends messages of a session, each an iterable of its answer and a promise of its turn', async () => {
  const session = await flowrun.session('writer', { id: 'ticket-4711', env: { TICKET: '4711' } });
  const first = session.send(saying('One.'));
  expect(await allOf(first)).toEqual(['One.']);
  expect(await first).toMatchObject({ text: 'One.', exitCode: 0 });
  const [second, third] = [session.send(saying('Two.')), session.send(saying('Three.'))];
  expect((await third).text).toBe('Three.');
  expect((await allOf(second)).join('')).toBe('Two.');

  const again = await flowrun.session('writer', { id: 'ticket-4711' });
  expect(again.run.runId).toBe(session.run.runId);
  expect(await again.send(saying('Four.'))).toMatchObject({ text: 'Four.' });

  const { token } = await again.run.createToken();
  const page = new Flowrun({ url: service.url, key: token });
  const inPage = await page.getSession(session.run.runId);
  expect(await allOf(inPage.send(saying('Five.')))).toEqual(['Five.']);
  await expect(page.session('writer')).rejects.toBeInstanceOf(Unauthorized);
  await again.end();
  await expect(again.send('Too late.')).rejects.toBeInstanceOf(NotFound);
});

it('answers the questions of the agent', async () => {
  const run = await flowrun.run('writer', { prompt: asking([colour]) });
  for await (const event of run.events()) {
    if (event.type === 'interaction') await run.answer(event, { [colour.question]: 'Blue' });
  }
  expect((await run.result()).text).toBe('Done.');
});

it('sends and receives files, and shows changes', async () => {
  const run = await flowrun.run('writer', {
    prompt: script([{ write: { path: '/workspace/out/new.txt', content: 'new\n' } }]),
    files: [{ path: 'in/bytes', content: new Uint8Array([0, 255]) }],
  });
  await run.result();
  const folder = mkdtempSync(join(tmpdir(), 'files-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const paths = (await allOf(run.files.list())).map(({ path }) => path);
  expect(paths.sort()).toEqual(['in/bytes', 'out/new.txt']);
  expect([...(await run.files.read('in/bytes'))]).toEqual([0, 255]);
  expect((await run.files.pull(folder)).sort()).toEqual(paths);
  expect(readFileSync(join(folder, 'out/new.txt'), 'utf8')).toBe('new\n');
  expect(await run.changes.patch()).toContain('+new');
  expect(await allOf(run.changes.list())).toMatchObject([{ path: 'out/new.txt', status: 'added' }]);
});

it('changes the files of a flow, and not those that another client has changed', async () => {
  const files = flowrun.flowFiles('writer');
  await files.replace([{ path: 'a b.txt', content: 'one' }]);
  const ifMatch = await files.readEtag();
  await files.replace(
    [
      { path: 'a b.txt', content: 'two' },
      { path: 'c', content: '' },
    ],
    { ifMatch },
  );
  await expect(files.deleteAll({ ifMatch })).rejects.toBeInstanceOf(PreconditionFailed);
  await files.delete('c');
  expect((await allOf(files.list())).map(({ path }) => path)).toEqual(['a b.txt']);
  expect(await files.readText('a b.txt')).toBe('two');
  await files.deleteAll();
  expect(await allOf(files.list())).toEqual([]);
});

it('rejects what the service rejects, with the class of its code', async () => {
  const bad = flowrun.run('writer', { prompt: 'Go', labels: { '-': 'x' } });
  await expect(bad).rejects.toBeInstanceOf(ValidationError);
  await expect(flowrun.run('no such flow').result()).rejects.toBeInstanceOf(NotFound);
  await expect(flowrun.getRun('../flows')).rejects.toBeInstanceOf(NotFound);
  const stranger = new Flowrun({ url: service.url, key: 'frs_wrong' });
  await expect(allOf(stranger.flows())).rejects.toBeInstanceOf(Unauthorized);
  const leaving = new AbortController();
  const run = await flowrun.run('writer', { prompt: script([{ hang: true }]) });
  const following = allOf(run.events({ signal: leaving.signal }));
  leaving.abort(new Error('Enough.'));
  await expect(following).rejects.toThrow('Enough.');
  await run.stop();
});
