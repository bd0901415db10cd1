import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Flowrun, isFlowrunError, type RunEvent, RunFailed } from '../../client/index.ts';
import { repository } from '../../dev/lib/folders.ts';
import { openCuttingProxy } from '../support/cutting-proxy.ts';
import { pageOf } from '../support/pages.ts';
import { script } from '../support/prompts.ts';
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
      expect(proxy.cuts()).toBe(6);
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

it('runs the first example of its page as it is', async () => {
  const [, example = ''] = /```js\n(.*?)```/s.exec(pageOf('docs/client.md')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'example-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(repository, 'dist/client'), join(folder, 'node_modules/@flowrun/client'), {
    recursive: true,
  });
  writeFileSync(join(folder, 'example.mjs'), example);
  const env = { FLOWRUN_URL: service.url, FLOWRUN_KEY: service.key };
  const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], {
    cwd: folder,
    env,
  });
  // This agent repeats its prompt and calls no model.
  expect(stdout).toMatch(/> Write hello\.md\n.*\nWrite hello\.md null\n$/s);
});
