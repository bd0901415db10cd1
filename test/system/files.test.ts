import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 240_000);
afterAll(() => service?.stop());

interface Entry {
  path: string;
  scope: string;
  size: number;
  sha256: string;
}

const patiently = { timeout: 180_000 };
const text = (path: string, content: string, mode?: string) => ({
  path,
  content,
  encoding: 'utf8',
  ...(mode && { mode }),
});
const list = async (runId: string): Promise<Entry[]> =>
  (await service.call<Entry[]>('GET', `/runs/${runId}/files?limit=200`)).data;
const scopes = async (runId: string) =>
  Object.fromEntries((await list(runId)).map(({ path, scope }) => [path, scope]));
const download = (runId: string, path: string, headers: Record<string, string> = {}) =>
  service.call('GET', `/runs/${runId}/files/${path}`, { headers });
const inject = (runId: string, files: object[]) =>
  service.call<Entry[]>('POST', `/runs/${runId}/files`, { body: { files } });

/** A run that has printed this text. */
async function untilSaid(runId: string, said: string): Promise<void> {
  const logs = `/runs/${runId}/logs`;
  await expect
    .poll(async () => JSON.stringify((await service.call('GET', logs)).data), { timeout: 60_000 })
    .toContain(said);
}

describe('files of a flow', patiently, () => {
  it('exist before the agent starts, in every run, and an agent’s changes stay in its run', async () => {
    const look = 'stat -c "%n %a %u %g" a.txt bin/tool sub > seen; cat a.txt secret/k >> seen';
    const change = 'echo changed > a.txt; bin/tool > made; pwd > where';
    const first = await service.trigger({
      prompt: script([{ shell: look }, { shell: change }]),
      files: [
        text('.flowignore', '# mine\nsecret/\n*.key\n!public.key\n'),
        text('a.txt', 'äöü\n'),
        {
          path: 'bin/tool',
          mode: '0755',
          encoding: 'base64',
          content: btoa('#!/bin/sh\necho ran\n'),
        },
        text('sub/dir/empty', ''),
        text('secret/k', 'for this run alone'),
        text('id.key', 'k'),
        text('public.key', 'p'),
      ],
    });
    await service.untilEnded(first.runId);
    expect((await download(first.runId, 'seen')).body).toBe(
      'a.txt 644 10001 10001\nbin/tool 755 10001 10001\nsub 755 10001 10001\näöü\nfor this run alone',
    );
    expect((await download(first.runId, 'made')).body).toBe('ran\n');
    expect(await scopes(first.runId)).toEqual({
      '.flowignore': 'flow',
      'a.txt': 'run',
      'bin/tool': 'flow',
      'id.key': 'run',
      made: 'run',
      'public.key': 'flow',
      'secret/k': 'run',
      seen: 'run',
      'sub/dir/empty': 'flow',
      where: 'run',
    });

    const next = await service.trigger({ prompt: script([{ say: 'nothing' }]) });
    await service.untilEnded(next.runId);
    expect(Object.keys(await scopes(next.runId))).toEqual([
      '.flowignore',
      'a.txt',
      'bin/tool',
      'public.key',
      'sub/dir/empty',
    ]);
    expect((await download(next.runId, 'a.txt')).body).toBe('äöü\n');
  });

  it('that are uploaded while a run is active reach it at once, and later runs, but no other active run', async () => {
    const waiting = script([
      { say: 'waiting' },
      { waitForFile: 'in/go-on' },
      { shell: 'cat in/go-on late.key > out' },
    ]);
    const [run, other] = await Promise.all([
      service.trigger({ prompt: waiting }),
      service.trigger({ prompt: waiting }),
    ]);
    await Promise.all([untilSaid(run.runId, 'waiting'), untilSaid(other.runId, 'waiting')]);
    expect((await inject(run.runId, [text('late.key', 'its own')])).data).toMatchObject([
      { path: 'late.key', scope: 'run', size: 7 },
    ]);
    const answer = await inject(run.runId, [text('in/go-on', 'go '), text('a.txt', 'newer')]);
    expect(answer).toMatchObject({ status: 200, data: [{ scope: 'flow' }, { scope: 'flow' }] });
    await service.untilEnded(run.runId);
    expect((await download(run.runId, 'out')).body).toBe('go its own');
    expect(await scopes(run.runId)).toMatchObject({ 'in/go-on': 'flow', 'a.txt': 'flow' });

    await sleep(500);
    expect(Object.keys(await scopes(other.runId))).not.toContain('in/go-on');
    expect((await download(other.runId, 'a.txt')).body).toBe('äöü\n');
    expect((await inject(other.runId, [text('late.key', ''), text('in/go-on', 'x')])).status).toBe(
      200,
    );
    await service.untilEnded(other.runId);

    const next = await service.trigger({ prompt: script([{ shell: 'cat in/go-on a.txt > out' }]) });
    await service.untilEnded(next.runId);
    expect((await download(next.runId, 'out')).body).toBe('xnewer');
    expect(await inject(next.runId, [text('late.key', '')])).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_ERROR', message: expect.stringContaining('has ended') } },
    });
  });
});

describe('files of a running run', patiently, () => {
  const steps = [
    { write: { path: 'live.txt', content: 'one' } },
    { say: 'first' },
    { waitForFile: 'go-on' },
    { write: { path: 'live.txt', content: 'the second' } },
    { write: { path: 'also.txt', content: '' } },
    { say: 'second' },
    { waitForFile: 'the-end' },
  ];

  it('are listed and downloaded as they are now, with ETag and Range', async () => {
    const { runId } = await service.trigger({ prompt: script(steps) });
    await untilSaid(runId, 'first');
    const one = await download(runId, 'live.txt');
    expect(one).toMatchObject({ status: 200, body: 'one' });
    const etag = one.headers.get('etag') ?? '';
    expect((await download(runId, 'live.txt', { 'if-none-match': etag })).status).toBe(304);
    expect(Object.keys(await scopes(runId))).toContain('live.txt');
    expect((await download(runId, 'also.txt')).status).toBe(404);
    await inject(runId, [text('go-on', '')]);
    await untilSaid(runId, 'second');
    const two = await download(runId, 'live.txt', { 'if-none-match': etag });
    expect(two).toMatchObject({ status: 200, body: 'the second' });
    expect(await download(runId, 'live.txt', { range: 'bytes=4-' })).toMatchObject({
      status: 206,
      body: 'second',
    });
    expect((await list(runId)).find(({ path }) => path === 'live.txt')?.size).toBe(10);
    expect((await download(runId, 'also.txt')).status).toBe(200);

    await service.worker.kill('SIGKILL');
    const began = performance.now();
    const lost = await download(runId, 'live.txt');
    expect(lost).toMatchObject({ status: 503, body: { error: { code: 'UPSTREAM_UNAVAILABLE' } } });
    expect(performance.now() - began).toBeLessThan(30_000);
    const back = service.worker.start();
    // Without an answer a client cannot know whether the file was written.
    await expect
      .poll(async () => (await inject(runId, [text('the-end', 'x')])).status, { timeout: 90_000 })
      .toBeOneOf([200, 400]);
    await back;
    expect(await service.untilEnded(runId)).toMatchObject({ exitCode: 0 });
    expect((await download(runId, 'live.txt')).body).toBe('the second');
  });
});
