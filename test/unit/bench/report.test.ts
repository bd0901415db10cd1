import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { compareResults } from '../../../bench/measure/agreement.ts';
import { chartOf } from '../../../bench/measure/chart.ts';
import { replaceSection } from '../../../bench/measure/readme-section.ts';
import {
  gatesOf,
  latestResults,
  type Results,
  readResults,
  writeResults,
} from '../../../bench/measure/results.ts';
import { markdownTable, rowsOf, tableText, three } from '../../../bench/measure/table.ts';
import { repository } from '../../../dev/lib/folders.ts';
import { measurementOf } from './measurement.ts';

const environment = { cores: 2, runtime: 'runc', temporalStore: 'sqlite', docker: '29' };

function resultsOf(ratios: number[], more: Partial<Results> = {}): Results {
  const { target, iterations, iterationsPlanned } = measurementOf({ id: 'T1', ratios });
  const scenario = { id: 'T1', targets: [target], iterationsPlanned, iterations };
  const at = '2026-11-01T10:00:00.000Z';
  return { at, plantedDelayMs: 0, environment, scenarios: [scenario], ...more };
}

const winning = resultsOf([1.05, 1.06, 1.07]);
const losing = resultsOf([1.15, 1.2, 1.25]);
const againstPeers = winning.scenarios.map((scenario) => ({ ...scenario, id: 'peers' }));

describe('a report', () => {
  test('shows the ratio first, then milliseconds, goal, gate and verdict', () => {
    const [head, row] = tableText(rowsOf(losing, { T1: 1.3 })).split('\n');
    expect(head?.split(/ {2,}/)).toEqual([
      ...['target', 'ratio (95 %)', 'ours p50', 'p95', 'limit p50', 'p95'],
      ...['goal', 'gate', 'iterations', 'verdict'],
    ]);
    expect(row?.split(/ {2,}/)).toEqual([
      ...['T1', '1.20 (1.15–1.25)', '12.0 ms', '12.5', '10.0 ms', '10.0'],
      ...['≤ 1.1', '≤ 1.3', '3, 0 noisy', 'met'],
    ]);
  });

  test('marks a ratio that misses its goal', () => {
    expect(markdownTable(rowsOf(losing, {}))).toContain('| **1.20 (1.15–1.25)** |');
    expect(markdownTable(rowsOf(winning, {}))).toContain('| 1.06 (1.05–1.07) |');
  });

  test('replaces the rows between the markers of the README, and nothing else', () => {
    const readme = 'before\n<!-- bench:begin -->\nold\n<!-- bench:end -->\nafter\n';
    const replaced = replaceSection(readme, losing, {});
    expect(replaced).toMatch(/^before\n<!-- bench:begin -->\n!\[/);
    expect(replaced).toContain('| the target T1 (T1) | **1.20 (1.15–1.25)** | 12.0 ms | 10.0 ms |');
    expect(replaced).toMatch(/\n<!-- bench:end -->\nafter\n$/);
    expect(replaceSection(replaced ?? '', losing, {})).toBe(replaced);
    expect(replaceSection('no markers', losing, {})).toBeNull();
  });

  test('draws one dot for each target, and a line at 1', () => {
    const chart = chartOf(rowsOf(losing, {}));
    expect(chart.match(/<circle/g)).toHaveLength(1);
    expect(chart).toContain('>1</text>');
    expect(chart).not.toContain('NaN');
  });

  test('has the rows of the committed results in the README', () => {
    const readme = readFileSync(join(repository, 'README.md'), 'utf8');
    const [first] = latestResults();
    if (!readme.includes('<!-- bench:begin -->')) return expect(first).toBeUndefined();
    if (first === undefined) throw new Error('the README has markers, but there are no results');
    expect(replaceSection(readme, first, gatesOf(first))).toBe(readme);
  });
});

test('gates hold for the runtime, the cores and the store of Temporal that set them', () => {
  const gatesIn = (other: Partial<Results['environment']>) =>
    gatesOf({ environment: { ...environment, ...other }, scenarios: [] });
  expect(gatesIn({})).not.toEqual({});
  expect(gatesIn({ cores: 64 })).toEqual({});
  expect(gatesIn({ runtime: 'other' })).toEqual({});
  expect(gatesIn({ temporalStore: 'other' })).toEqual({});
});

test('results are read as they were written', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'not/there/yet.json');
  writeResults(file, losing);
  expect(readResults(file)).toEqual(losing);
});

test('the newest published run of each environment is reported, runc first, peers apart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, more: Partial<Results>) =>
    writeResults(join(folder, `${name}.json`), resultsOf([1], more));
  write('a', { at: '2026-11-03' });
  write('b', { at: '2026-11-01' });
  write('c', { at: '2026-11-04', environment: { ...environment, runtime: 'runsc' } });
  write('d', { at: '2026-11-05', plantedDelayMs: 20 });
  write('e', { at: '2026-11-06', scenarios: againstPeers });
  const at = latestResults(folder).map((results) => results.at);
  expect(at).toEqual(['2026-11-03', '2026-11-06', '2026-11-04']);
  expect(latestResults(join(folder, 'missing'))).toEqual([]);
});

describe('a comparison of two runs', () => {
  test('reports for each common target whether the intervals overlap', () => {
    const near = resultsOf([1.07, 1.08]);
    expect(compareResults(winning, near)).toMatchObject([{ id: 'T1', agrees: true }]);
    expect(compareResults(winning, losing)).toMatchObject([{ id: 'T1', agrees: false }]);
  });

  test('refuses runs of different environments, and runs without a common target', () => {
    const other = resultsOf([1], { environment: { ...environment, cores: 4 } });
    expect(() => compareResults(winning, other)).toThrow(/Not comparable/);
    expect(() => compareResults(winning, { ...winning, scenarios: [] })).toThrow(/no target/);
  });
});

test('figures have three digits', () => {
  expect([0, 0.01234, 1.234, 12.34, 123.4, 12_345].map(three)).toEqual([
    ...['0', '0.0123', '1.23', '12.3', '123', '12,345'],
  ]);
});
