// The samples of published runs, with 20 ms added to each of ours. How noisy those runs were is
// left out, because a noisy run has no verdict.

import { describe, expect, test } from 'vitest';
import {
  gatesOf,
  latestResults,
  measurementsOf,
  type Results,
} from '../../../bench/measure/results.ts';
import type { Iteration } from '../../../bench/measure/runner.ts';
import type { Sample } from '../../../bench/measure/scenario.ts';
import {
  gateFrom,
  type Measurement,
  summarize,
  verdictOf,
} from '../../../bench/measure/verdict.ts';

const delayMs = 20;
const quiet = { otherCpus: 0, steal: 0, pressure: 0 };

function withDelay({ target, iterations, ...rest }: Measurement, addedMs: number): Measurement {
  const slower = <T extends Sample>(sample: T): T => {
    const value = (sample.values[target.id] ?? Number.NaN) + addedMs;
    return { ...sample, values: { [target.id]: value } };
  };
  const changed = iterations.map(({ ours: [first, second], ...others }): Iteration => {
    return { ...others, ours: [slower(first), slower(second)], noise: quiet };
  });
  return { target, ...rest, iterations: changed };
}

const verdictAfter = (measurement: Measurement, addedMs: number, gate: number | undefined) => {
  const changed = withDelay(measurement, addedMs);
  return verdictOf(changed, summarize(changed), gate);
};

const latencies = (results: Results): Measurement[] =>
  measurementsOf(results).filter(({ target }) => target.unit === 'ms');

describe('20 ms on the path of a request', () => {
  const runs = latestResults();

  test.each(['T7', 'T10', 'T15'])('miss the committed gate of %s', (id) => {
    const verdicts = runs.flatMap((results) =>
      latencies(results)
        .filter(({ target }) => target.id === id)
        .map((measurement) => verdictAfter(measurement, delayMs, gatesOf(results)[id])),
    );
    expect(verdicts).toEqual(['missed']);
  });

  test('miss every gate that the run itself would set, and no delay misses none', () => {
    // Gates have three digits. With a limit of half a second, the last one is 5 ms.
    const short = runs.flatMap(latencies).filter((each) => summarize(each).limit.p50 <= 500);
    expect(short.length).toBeGreaterThan(15);
    for (const measurement of short) {
      const gate = gateFrom(measurement, summarize(measurement));
      const verdicts = [0, delayMs].map((added) => verdictAfter(measurement, added, gate));
      expect(verdicts, measurement.target.id).toEqual(['met', 'missed']);
    }
  });
});
