// Commands for runs and for the files of flows that need no agent.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type RemoteCli, remoteCli } from '../../support/remote-cli.ts';
import { useApi } from '../api/use-api.ts';

const { fixture, api } = useApi();

async function newUser(): Promise<{ flowrun: RemoteCli; flowId: string }> {
  const { key, flowId } = await fixture.tenant();
  const flowrun = remoteCli({ FLOWRUN_URL: api.url, FLOWRUN_KEY: key });
  onTestFinished(() => flowrun.remove());
  return { flowrun, flowId };
}

const put = ({ home }: RemoteCli, path: string, text: string, mode = 0o644): void =>
  writeFileSync(join(home, path), text, { mode });

test('files are pushed to a flow, and the other files of the flow stay', async () => {
  const { flowrun } = await newUser();
  mkdirSync(join(flowrun.home, 'in'));
  put(flowrun, 'CLAUDE.md', 'Be brief.');
  put(flowrun, 'in/run.sh', 'true\n', 0o755);
  const pushed = await flowrun('files', 'push', '--flow', 'A fl', 'CLAUDE.md', 'in');
  expect(pushed).toEqual({ code: 0, out: '', err: '2 files sent.\n' });
  put(flowrun, 'CLAUDE.md', 'Be exact.');
  expect((await flowrun('files', 'push', '--flow', 'A flow', 'CLAUDE.md')).code).toBe(0);

  const listed = await flowrun('files', 'ls', '--flow', 'A flow', '--json');
  expect(JSON.parse(listed.out)).toMatchObject([{ path: 'CLAUDE.md' }, { path: 'in/run.sh' }]);
  const below = await flowrun('files', 'ls', '--flow', 'A flow', 'in/');
  expect(below.out).toMatch(/^SIZE.*\n5 .* in\/run.sh\n$/);
  expect((await flowrun('files', 'cat', '--flow', 'A flow', 'CLAUDE.md')).out).toBe('Be exact.');
  const pulled = await flowrun('files', 'pull', '--flow', 'A flow', 'out');
  expect(pulled.err).toBe('2 files are in out.\n');
  expect(readFileSync(join(flowrun.home, 'out/in/run.sh'), 'utf8')).toBe('true\n');
});

test('pushes at the same time lose no file', async () => {
  const { flowrun } = await newUser();
  const names = ['one', 'two', 'three'];
  for (const name of names) put(flowrun, name, name);
  const pushes = names.map((name) => flowrun('files', 'push', '--flow', 'A flow', name));
  for (const { code, err } of await Promise.all(pushes)) expect(code, err).toBe(0);
  const { out } = await flowrun('files', 'ls', '--flow', 'A flow', '--json');
  const paths = (JSON.parse(out) as { path: string }[]).map(({ path }) => path);
  expect(paths).toEqual(names.toSorted());
});

test('files need a run or a flow, and what to send or print', async () => {
  const { flowrun } = await newUser();
  const usages = [
    [['ls'], 'Pass a run'],
    [['cat', '--flow', 'A flow'], 'Pass the path'],
    [['push', '@'], 'Pass the files'],
  ] as const;
  for (const [args, message] of usages)
    expect(await flowrun('files', ...args)).toMatchObject({
      ...{ code: 2, err: expect.stringContaining(message) },
    });
});

test('an empty text names no run, although it begins the ID of the only one', async () => {
  const { flowrun } = await newUser();
  const runId = (await flowrun('run', 'A flow', 'Go', '--detach')).out.trim();
  expect(await flowrun('stop', '')).toMatchObject({
    code: 1,
    err: expect.stringContaining('missing'),
  });
  expect((await flowrun('stop', runId.slice(0, 8))).code).toBe(0);
});

test('a watched list continues with new and changed runs', async () => {
  const { flowrun } = await newUser();
  const start = async (name: string): Promise<string> =>
    (await flowrun('run', 'A flow', 'Go', '--detach', '--name', name)).out.trim();
  await start('first');
  const watching = flowrun.start('runs', '--watch');
  await watching.untilOut('first');
  const runId = await start('second');
  await watching.untilOut('second');
  expect((await flowrun('stop', runId)).code).toBe(0);
  await watching.untilOut(`${runId.slice(0, 8)}  A flow  stopping`);
  watching.signal('SIGINT');
  const { out } = await watching.ended;
  const lines = out.trim().split('\n');
  expect(lines[0]).toMatch(/^RUN +FLOW +STATE +AGE +COST USD +NAME +LABELS$/);
  expect(lines.slice(1).map((line) => /first|second/.exec(line)?.[0])).toEqual([
    ...['first', 'second', 'second'],
  ]);
  const watchingJson = flowrun.start('runs', '--watch', '--json', '--limit', '1');
  await watchingJson.untilOut('\n');
  watchingJson.signal('SIGINT');
  expect(JSON.parse((await watchingJson.ended).out)).toMatchObject({ runId, stopping: true });
});
