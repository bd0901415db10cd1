import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';

const copied = ['dev/launch.mjs', 'dev/from-source/base-image/package-lock.json'];
const program = `
import { execFileSync } from 'node:child_process';
const child: string = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
const [action, value] = process.argv.slice(2);
if (action === 'wait') {
  process.on('SIGTERM', () => process.exit(42));
  setInterval(() => {}, 1000);
}
console.log(JSON.stringify({ node: process.version, child, args: process.argv.slice(2) }));
if (action === 'exit') process.exit(Number(value));
if (action === 'die') process.kill(process.pid, 'SIGKILL');`;

let folder: string;
let checkout: string;
let cache: string;
let olderNode: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-launch-'));
  checkout = join(folder, 'checkout');
  cache = join(folder, 'cache');
  for (const file of copied) cpSync(join(repository, file), join(checkout, file));
  writeFileSync(join(checkout, 'package.json'), '{"type":"module"}');
  writeFileSync(join(checkout, 'package-lock.json'), '{"packages":{}}');
  writeFileSync(join(checkout, 'program.ts'), program);
  olderNode = ensureOlderNode();
});

afterAll(() => rmSync(folder, { recursive: true }));

test('an older Node fetches a newer one once, and runs the program and its children with it', async () => {
  const first = await launch(['a b', 'c']);
  expect(first.err).toMatch(/^Fetching Node 24\.[\d.]+; this is 20\.[\d.]+\.\n$/);
  const { node = '' } = first.report;
  expect(node).toMatch(/^v24\./);
  expect(first).toMatchObject({ code: 0, report: { child: node, args: ['a b', 'c'] } });

  const second = await launch([], { PATH: '/nowhere' });
  expect(second).toMatchObject({ code: 0, err: '', report: { node, child: node } });
});

test('two concurrent first starts leave one complete Node in the cache', async () => {
  const shared = { FLOWRUN_CACHE: join(folder, 'shared-cache') };
  const both = await Promise.all([launch([], shared), launch([], shared)]);
  for (const one of both)
    expect(one).toMatchObject({ code: 0, report: { child: expect.any(String) } });
  expect(readdirSync(shared.FLOWRUN_CACHE)).toEqual([
    expect.stringMatching(/^node-\w+-\w+-24\.[\d.]+$/),
  ]);
});

test('the exit code and the signal of the program are those of the launcher', async () => {
  expect(await launch(['exit', '7'])).toMatchObject({ code: 7 });
  expect(await launch(['die'])).toMatchObject({ code: null, signal: 'SIGKILL' });
});

test('a signal for the launcher reaches the program', async () => {
  const child = start(['wait']);
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

interface Report {
  node?: string;
  child?: string;
  args?: string[];
}

async function launch(args: string[], env: Record<string, string> = {}, bin?: string) {
  const child = start(args, env, bin);
  const ended = once(child, 'close');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null]; // documented by child_process
  const report = (out === '' ? {} : JSON.parse(out)) as Report; // the program's own output
  return { code, signal, err, report };
}

function start(args: string[], env: Record<string, string> = {}, bin?: string) {
  const line = bin === undefined ? [join(checkout, 'dev/launch.mjs'), 'program.ts'] : [bin];
  return spawn(olderNode, [...line, ...args], {
    env: { ...process.env, FLOWRUN_CACHE: cache, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The npm of this machine, or one from the npm registry. */
function ensureOlderNode(): string {
  const found = ['/usr/bin/node', '/usr/local/bin/node'].find(isOlder);
  if (found !== undefined) return found;
  const name = `node-${process.platform}-${process.arch}`;
  const target = ['--no-save', '--no-package-lock', '--prefix', folder, `${name}@20.20.2`];
  execFileSync('npm', ['install', ...target], { stdio: 'ignore' });
  return join(folder, 'node_modules', name, 'bin/node');
}

function isOlder(node: string): boolean {
  try {
    return execFileSync(node, ['--version'], { encoding: 'utf8' }).startsWith('v20.');
  } catch {
    return false;
  }
}
