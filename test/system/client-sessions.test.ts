import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Flowrun, NotFound, Unauthorized, ValidationError } from '../../client/index.ts';
import { saying, script } from '../support/prompts.ts';
import { type Service, startService } from '../support/service.ts';

let service: Service;
let flowrun: Flowrun;
beforeAll(async () => {
  service = await startService({ flow: { name: 'support' } });
  flowrun = new Flowrun({ url: service.url, key: service.key });
}, 240_000);
afterAll(() => service?.stop());

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

it('sends messages of a session, each an iterable of its answer and a promise of its turn', async () => {
  const session = await flowrun.session('support', { id: 'ticket-4711', env: { TICKET: '4711' } });
  const first = session.send(saying('One.'));
  expect(await allOf(first)).toEqual(['One.']);
  expect(await first).toMatchObject({ text: 'One.', exitCode: 0 });
  const [second, third] = [session.send(saying('Two.')), session.send(saying('Three.'))];
  expect((await third).text).toBe('Three.');
  expect((await allOf(second)).join('')).toBe('Two.');

  const again = await flowrun.session('support', { id: 'ticket-4711' });
  expect(again.run.runId).toBe(session.run.runId);
  expect(await again.send(saying('Four.'))).toMatchObject({ text: 'Four.' });
  await again.end();
  await expect(again.send('Too late.')).rejects.toBeInstanceOf(NotFound);
});

it('sends and receives files, and shows changes', async () => {
  const run = await flowrun.run('support', {
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

it('rejects what the service rejects, with the class of its code', async () => {
  const bad = flowrun.run('support', { prompt: 'Go', labels: { '-': 'x' } });
  await expect(bad).rejects.toBeInstanceOf(ValidationError);
  await expect(flowrun.run('no such flow').result()).rejects.toBeInstanceOf(NotFound);
  await expect(flowrun.getRun('../flows')).rejects.toBeInstanceOf(NotFound);
  const stranger = new Flowrun({ url: service.url, key: 'frs_wrong' });
  await expect(allOf(stranger.flows())).rejects.toBeInstanceOf(Unauthorized);
  const leaving = new AbortController();
  const run = await flowrun.run('support', { prompt: script([{ hang: true }]) });
  const following = allOf(run.events({ signal: leaving.signal }));
  leaving.abort(new Error('Enough.'));
  await expect(following).rejects.toThrow('Enough.');
  await run.stop();
});
