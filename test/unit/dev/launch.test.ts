// Node 20 and npm are stand-ins: the first is this Node, which reports another version to the
// launcher, and the second installs a link to this Node.

import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { createLauncher } from '../../support/launcher.ts';

const newer = `node-${process.platform}-${process.arch}`;
const pinned = JSON.parse(
  readFileSync(join(repository, 'dev/from-source/base-image/package-lock.json'), 'utf8'),
) as { packages: Record<string, { version: string; integrity: string }> }; // npm's format
const pin = pinned.packages[`node_modules/${newer}`];

/** Waits until as many calls have begun as NPM_CALLS says, so that they overlap. */
const npm = `#!${process.execPath}
const { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } = require('node:fs');
const { NPM_LOG, NPM_CALLS = 1, NPM_INTEGRITY = '${pin?.integrity}' } = process.env;
const prefix = process.argv[process.argv.indexOf('--prefix') + 1];
appendFileSync(NPM_LOG, process.argv.at(-1) + '\\n');
const clock = new Int32Array(new SharedArrayBuffer(4));
while (readFileSync(NPM_LOG, 'utf8').split('\\n').length <= NPM_CALLS) Atomics.wait(clock, 0, 0, 5);
mkdirSync(prefix + '/node_modules/${newer}/bin', { recursive: true });
symlinkSync(process.execPath, prefix + '/node_modules/${newer}/bin/node');
const packages = { 'node_modules/${newer}': { integrity: NPM_INTEGRITY } };
writeFileSync(prefix + '/node_modules/.package-lock.json', JSON.stringify({ packages }));
`;
const pretend = `
Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
delete process.env.NODE_OPTIONS;`;

let folder: string;
let log: string;
let launcher: ReturnType<typeof createLauncher>;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-launch-'));
  log = join(folder, 'npm.log');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/npm'), npm, { mode: 0o755 });
  writeFileSync(join(folder, 'pretend.mjs'), pretend);
  launcher = createLauncher(folder, process.execPath);
});

afterAll(() => rmSync(folder, { recursive: true }));

const environment = (env: Record<string, string>) => ({
  NODE_OPTIONS: `--import=${join(folder, 'pretend.mjs')}`,
  NPM_LOG: log,
  PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter),
  ...env,
});
const launch = (args: string[], env: Record<string, string> = {}, bin?: string) =>
  launcher.launch(args, environment(env), bin);

test('an older Node fetches a newer one once, and runs the program and its children with it', async () => {
  const first = await launch(['a b', 'c']);
  expect(first).toEqual({
    code: 0,
    signal: null,
    err: `Fetching Node ${pin?.version}; this is 20.20.2.\n`,
    report: { node: process.version, child: process.version, args: ['a b', 'c'] },
  });
  const second = await launch([], { PATH: '/nowhere' });
  expect(second).toMatchObject({ code: 0, err: '', report: { child: process.version } });
  expect(readFileSync(log, 'utf8')).toBe(`${newer}@${pin?.version}\n`);
});

test('two concurrent first starts leave one complete Node in the cache', async () => {
  const NPM_LOG = join(folder, 'both.log');
  const shared = { FLOWRUN_CACHE: join(folder, 'shared-cache'), NPM_LOG, NPM_CALLS: '2' };
  const both = await Promise.all([launch([], shared), launch([], shared)]);
  for (const one of both)
    expect(one).toMatchObject({ code: 0, report: { child: process.version } });
  expect(readdirSync(shared.FLOWRUN_CACHE)).toEqual([`${newer}-${pin?.version}`]);
});

test('a package that differs from the pinned one is neither run nor cached', async () => {
  const other = { FLOWRUN_CACHE: join(folder, 'other-cache'), NPM_INTEGRITY: 'sha512-other' };
  const { code, err, report } = await launch([], other);
  expect({ code, report }).toEqual({ code: 1, report: {} });
  expect(err).toContain('the package differs from the pinned one.');
  expect(readdirSync(other.FLOWRUN_CACHE)).toEqual([]);
});

test('the exit code and the signal of the program are those of the launcher', async () => {
  expect(await launch(['exit', '7'])).toMatchObject({ code: 7 });
  expect(await launch(['die'])).toMatchObject({ code: null, signal: 'SIGKILL' });
});

test('a signal for the launcher reaches the program', async () => {
  const child = launcher.start(['wait'], environment({}));
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([42, null]);
});

test('without npm, the launcher reports which Node is missing and caches nothing', async () => {
  const empty = { FLOWRUN_CACHE: join(folder, 'empty-cache'), PATH: '/nowhere' };
  const { code, err } = await launch([], empty);
  expect(code).toBe(1);
  expect(err).toMatch(
    /Node 22\.18 or newer is needed; this is 20\.[^]*npm cannot be started[^]*Install Node 24/,
  );
  expect(readdirSync(empty.FLOWRUN_CACHE)).toEqual([]);
});

test('under the name flowrun, the launcher starts the command line but installs no packages', async () => {
  const { checkout } = launcher;
  const bin = join(folder, 'flowrun');
  symlinkSync(join(checkout, 'dev/launch.mjs'), bin);
  const before = await launch(['--help'], {}, bin);
  expect(before).toMatchObject({
    code: 1,
    err: 'The packages are not installed. Run `npm ci` first.\n',
  });

  mkdirSync(join(checkout, 'node_modules'));
  mkdirSync(join(checkout, 'deploy'));
  cpSync(join(checkout, 'program.ts'), join(checkout, 'deploy/command-line.ts'));
  expect((await launch(['--help'], {}, bin)).report.args).toEqual(['--help']);
});
