import type { Iteration } from '../../../bench/measure/runner.ts';
import type { Measurement } from '../../../bench/measure/verdict.ts';

interface Options {
  ratios: number[];
  id?: string;
  better?: 'less' | 'more';
  goal?: number;
  planned?: number;
  generatorShare?: number;
  /** How many of the iterations are noisy. */
  noisy?: number;
  /** The ratio of one warm-up. */
  warmUp?: number;
  /** The value of every sample of the limit. */
  limit?: number;
}

/** A measurement whose iterations have the given ratios. */
export function measurementOf({ ratios, ...options }: Options): Measurement {
  const { id = 'T0', better = 'less', goal = 1.1, noisy = 0, warmUp, limit = 10 } = options;
  const generatorShare = options.generatorShare ?? 0.1;
  const iterationOf = (ratio: number, isNoisy: boolean, isWarmUp = false): Iteration => {
    const sample = (value: number) => ({ values: { [id]: value }, generatorShare });
    return {
      isWarmUp,
      ours: [sample(ratio * limit), sample(ratio * limit)],
      limit: [sample(limit), sample(limit)],
      noise: { otherCpus: isNoisy ? 1 : 0, steal: 0, pressure: 0 },
    };
  };
  const counted = ratios.map((ratio, index) => iterationOf(ratio, index < noisy));
  const warmUps = warmUp === undefined ? [] : [iterationOf(warmUp, false, true)];
  return {
    target: { id, title: `the target ${id}`, unit: 'ms', better, goal },
    iterationsPlanned: options.planned ?? ratios.length,
    iterations: [...warmUps, ...counted],
  };
}
