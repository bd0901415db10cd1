import { expect, test } from 'vitest';
import { latestResults, measurementsOf } from '../../../bench/measure/results.ts';
import type { Iteration } from '../../../bench/measure/runner.ts';
import { gateFrom, missesGoal, summarize, verdictOf } from '../../../bench/measure/verdict.ts';
import { costOf, idle, limitOf } from '../../../bench/scenarios/idle.ts';

const one = { percent: 2, mib: 300 };
const agent = { percent: 0.08, mib: 100 };
const [cpu] = idle.targets;

/** The service uses this share of a core for each of 20 paused sessions, always. */
function measured(percent: number) {
  const ours = { ...costOf({ percent: 2 + 20 * percent, mib: 400 }, one), generatorShare: 0 };
  const limit = { ...limitOf(agent), generatorShare: 0 };
  const noise = { otherCpus: 0, steal: 0, pressure: 0 };
  const iteration: Iteration = {
    isWarmUp: false,
    ours: [ours, ours],
    limit: [limit, limit],
    noise,
  };
  if (cpu?.id !== 'T17-cpu') throw new Error('the first target of T17 is its CPU');
  return { target: cpu, iterationsPlanned: 1, iterations: [iteration] };
}

test('the CPU of a paused session is a share of a core, independent of an idle agent', () => {
  const summary = summarize(measured(0.4));
  expect(summary.ratio).toBeCloseTo(0.004);
  expect(summary.limit.p50).toBe(100);
  expect(limitOf(agent).also).toEqual({ agentCpu: 0.08 });
});

test('its goal is 0.02 % of a core', () => {
  const misses = (percent: number) =>
    missesGoal(measured(percent).target, summarize(measured(percent)));
  expect([0.0199, 0.0201].map(misses)).toEqual([false, true]);
});

test('its recorded samples have the same limit, and meet the gate that they set', () => {
  const [recorded] = latestResults()
    .flatMap(measurementsOf)
    .filter(({ target }) => target.id === 'T17-cpu');
  if (recorded === undefined) throw new Error('no published run has T17-cpu');
  expect(cpu).toMatchObject(recorded.target);
  const summary = summarize(recorded);
  expect(summary.limit).toEqual({ p50: 100, p95: 100 });
  expect(verdictOf(recorded, summary, gateFrom(recorded, summary))).toBe('met');
});
