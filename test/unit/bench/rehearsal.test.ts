import { expect, test } from 'vitest';
import { readRehearsalArguments } from '../../../bench/rehearsal/arguments.ts';
import { costOf, minuteCostOf } from '../../../bench/rehearsal/costs.ts';
import { ofParts } from '../../../bench/rehearsal/parts.ts';
import type { Totals } from '../../../bench/rehearsal/rehearsal-service.ts';
import { reportOf } from '../../../bench/rehearsal/report.ts';

/** Totals after this time, with the same use of everything. */
const totals = (atMs: number, used: number): Totals => ({
  atMs,
  parts: ofParts(() => ({ cpuMs: used, memoryMib: 1 })),
  ...{ statements: used, commits: used, redisCommands: used },
});

const halfMinute = { before: totals(1_000, 500), after: totals(31_000, 530) };

test('the cost of a run leaves out the idle cost of the service', () => {
  const idle = minuteCostOf({ before: totals(0, 0), after: totals(30_000, 5) });
  expect(idle).toMatchObject({ cpuMs: { API: 10, Temporal: 10 }, statements: 10 });
  const run = costOf(halfMinute, 5, idle);
  expect(run).toEqual({
    ...{ cpuMs: ofParts(() => 5), statements: 5, commits: 5, redisCommands: 5 },
  });
});

test('the report begins with the part that saturates a core first', () => {
  const cost = costOf(halfMinute, 10);
  const cpuMs = { ...cost.cpuMs, Postgres: 8, workers: 12.5, Temporal: -1 };
  const costs = ['a run', 'a minute of a session'].map((title) => ({ ...cost, title, cpuMs }));
  const report = reportOf({ costs, memory: [] });
  expect(report).toContain('| a run | 3 | 12.5 | 8 | 3 | -1 |');
  const perSecond = 'workers 80, Postgres 125, API 333, Redis 333';
  expect(report).toContain(`a run: number per second that fills a core: ${perSecond}\n`);
  expect(report).toContain('that fills a core: workers 4800, Postgres 7500');
});

test('the rehearsal takes its size from the command line', () => {
  expect(readRehearsalArguments(['--runs', '5', '--idle-seconds', '10'])).toMatchObject({
    ...{ runs: 5, idleSeconds: 10, workers: 3 },
  });
  expect(() => readRehearsalArguments(['--runs', '0'])).toThrow('--runs takes a positive number');
  expect(() => readRehearsalArguments(['--hosts', '2'])).toThrow(/hosts/);
});
