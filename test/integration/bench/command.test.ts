// The command itself, with the fewest iterations: its output, its file and its exit code.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Comparison } from '../../../bench/measure/compare.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { stackEnv } from '../../support/stack-env.ts';

const runsCounted = 5;
const timeout = 300_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(stackEnv.dataDir, 'bench-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Written {
  at: string;
  machine: Record<string, unknown>;
  comparisons: Comparison[];
  surveys: { counters?: { counted: { post: number; docker: Record<string, number> }[] } };
}

test('reports a target and the counters on the screen and in a file', { timeout }, async () => {
  const startedAtMs = Date.now();
  const out = join(folder, 'not/there/yet.json');
  const { ended } = measure('T7', 'counters', '--n', '1', '--out', out);
  const { code, output, errors } = await ended;
  expect({ code, errors }).toEqual({ code: 0, errors: '' });

  const written = JSON.parse(readFileSync(out, 'utf8')) as Written; // the command's own format
  expect(Date.parse(written.at)).toBeGreaterThan(startedAtMs);
  expect(written.machine).toMatchObject({ node: process.versions.node });
  expect(output.split('\n')[0]).toContain(` · node ${process.versions.node} · `);
  expect(output.trimEnd().split('\n').at(-1)).toBe(`All figures: ${out}`);

  const [comparison] = written.comparisons;
  if (comparison === undefined) throw new Error('nothing was compared');
  expect(written.comparisons).toHaveLength(1);
  expectWhole(comparison);
  expectReported(output, comparison);

  const runs = written.surveys.counters?.counted ?? [];
  expect(runs).toHaveLength(runsCounted);
  for (const { post, docker } of runs) {
    expect(post).toBeGreaterThan(0);
    expect(docker).toMatchObject({ 'POST /containers/create': 1 });
  }
  expect(output).toMatch(/^ +POST \/containers\/create +1$/m);
});

/** The verdict follows from the printed figures. */
function expectWhole({ target, warmUp, counted, discarded, ...found }: Comparison): void {
  expect(target).toMatchObject({ id: 'T7', unit: 'ms', better: 'less', goal: 1.3, gate: 1.6 });
  expect([warmUp.length, counted.length, discarded.length]).toEqual([2, 1, 0]);
  for (const { ours, limit, ratio } of [...warmUp, ...counted]) {
    expect(ratio).toBeCloseTo(sumOf(ours) / sumOf(limit));
    expect(ratio).toBeGreaterThan(0);
  }
  const ratio = counted[0]?.ratio;
  expect(found).toEqual({
    ratio,
    interval: { low: ratio, high: ratio },
    generatorShare: null,
    verdict: 'inconclusive',
  });
}

function expectReported(output: string, { target, ratio }: Comparison): void {
  const figure = ratio.toFixed(2);
  const spread = `${figure}–${figure}`;
  const judged = `ratio ${figure} (95 %: ${spread})  goal ≤ 1.3, gate ≤ 1.6  INCONCLUSIVE  (n 1, 0 discarded)`;
  expect(output).toContain(`\nT7 …\n    1: ${figure}  (`);
  expect(output).toContain(`\nT7  ${target.title}\n    ${judged}\n    ours   p50 `);
  const lines = output.split('\n').map((line) => line.trim().split(/ {2,}/));
  const head = lines.findIndex(([first]) => first === 'ratio');
  expect(lines[head]).toEqual(['ratio', '95 %', 'goal', 'gate', 'n', 'discarded', 'verdict']);
  expect(lines[head + 1]).toEqual([
    ...['T7', figure, spread, '1.3', '1.6'],
    ...['1', '0', 'inconclusive'],
  ]);
}

const sumOf = (samples: { value: number }[]): number =>
  samples.reduce((sum, { value }) => sum + value, 0);

test('fails when it is interrupted, without a verdict and without a file', {
  timeout,
}, async () => {
  const out = join(folder, 'ended.json');
  const { child, ended } = measure('T7', 'counters', '--n', '99', '--out', out);
  child.stdout.on('data', (piece: string) => {
    if (piece.includes('T7 …')) child.kill('SIGTERM');
  });
  expect(await ended).toMatchObject({
    code: 1,
    errors: '\nEnded by SIGTERM: nothing was concluded.\n',
  });
  expect(existsSync(out)).toBe(false);
});

test.each([
  [['T99'], /^There is no T99 to measure, only T1, .*T7, .*counters\.$/],
  [['T7', '--n', 'many'], /^--n takes a number of iterations, not many\.$/],
  [['T7', '--n', '0'], /^--n takes a number of iterations, not 0\.$/],
  [['T7', '--max', '1.5'], /^--max takes a number of iterations, not 1\.5\.$/],
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
