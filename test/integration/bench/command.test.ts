// The command itself, with the fewest iterations: its output, its file and its exit code.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { measurementsOf, readGates, readResults } from '../../../bench/measure/results.ts';
import { scenarios } from '../../../bench/scenarios/index.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';

const timeout = 300_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(stackEnv.dataDir, 'bench-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('reports a target on the screen and every sample in a file', { timeout }, async () => {
  const out = join(folder, 'not/there/yet.json');
  const { ended } = measure('T7', '--n', '1', '--out', out);
  const { code, output, errors } = await ended;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });

  const results = readResults(out);
  expect(results.environment).toMatchObject({
    node: process.versions.node,
    runtime: 'runc',
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
  });
  for (const name of ['cores', 'kernel', 'docker', 'storageDriver', 'runc', 'postgres', 'redis'])
    expect(results.environment[name], name).toBeTruthy();
  expect(results.environment['temporal']).toMatch(/^\d+\.\d+/);
  expect(output.split('\n')[0]).toContain(' · fsync on · ');

  const measured = measurementsOf(results);
  expect(measured.map(({ target }) => target.id)).toEqual(['T7', 'T7-32']);
  for (const { iterations } of measured) {
    expect(iterations.map(({ isWarmUp }) => isWarmUp)).toEqual([true, false]);
    for (const { ours, limit } of iterations)
      for (const { values } of [...ours, ...limit]) expect(values['T7-32']).toBeGreaterThan(0);
  }
  expect(output).toMatch(/^T7-32 .* inconclusive$/m);
  expect(output.trimEnd().split('\n').at(-1)).toBe(`All samples: ${out}`);
});

test('fails when it is interrupted, without a verdict and without a file', {
  timeout,
}, async () => {
  const out = join(folder, 'ended.json');
  const { child, ended } = measure('T7', '--n', '99', '--out', out);
  child.stdout.once('data', () => child.kill('SIGTERM'));
  expect(await ended).toMatchObject({
    code: 1,
    errors: '\nEnded by SIGTERM: nothing was concluded.\n',
  });
  expect(existsSync(out)).toBe(false);
});

test.each([
  [['T99'], /^There is no T99 to measure, only .*T7, T7-32.*\.$/],
  [['T7', '--n', 'many'], /^--n takes a positive number, not many\.$/],
  [['T7', '--n', '0'], /^--n takes a positive number, not 0\.$/],
  [['T7', '--plant-delay', '1.5'], /^--plant-delay takes a positive number, not 1\.5\.$/],
  [['--runtime', 'kata'], /^--runtime takes runc or runsc, not kata\.$/],
  [['--temporal', 'cloud'], /^--temporal takes dev or postgres, not cloud\.$/],
  [['--fast'], /^Unknown option '--fast'/],
  [['T7', '--out'], /^Option '--out <value>' argument missing$/],
])('%j is rejected in one sentence, and starts no stack', async (asked, sentence) => {
  const data = mkdtempSync(join(folder, 'data-'));
  const { ended } = start([join(repository, 'bench/run-on-stack.ts'), ...asked], {
    FLOWRUN_DATA: data,
  });
  const { code, output, errors } = await ended;
  expect({ code, output }).toEqual({ code: 1, output: '' });
  expect(errors.trim()).toMatch(sentence);
  expect(readdirSync(data)).toEqual([]);
});

test('every target has its own id, and the committed gates name targets', () => {
  const ids = scenarios.flatMap(({ targets }) => targets.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  const gated = Object.values(readGates()).flatMap((gates) => Object.keys(gates));
  expect(gated).not.toEqual([]);
  expect(gated.filter((id) => !ids.includes(id))).toEqual([]);
});

/** On the stack of these tests. The command that starts another stack does this last. */
const measure = (...asked: string[]) => start([join(repository, 'bench/main.ts'), ...asked]);

function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  child.stderr.setEncoding('utf8').on('data', (piece: string) => (errors += piece));
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output, errors })),
  );
  return { child, ended };
}
