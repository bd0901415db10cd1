// Both sides are measured alternately (ours, limit, limit, ours), so that a slow machine affects
// both. One such round is an iteration, and the ratio within each iteration is compared. The first
// iterations are warm-up and do not count, because caches are cold and code is not compiled yet.

import { createNoiseDetector, type Noise, quietOnes } from './noise-detector.ts';
import type { Sample, Scenario, Target } from './scenario.ts';
import { type Interval, median, medianInterval } from './statistics.ts';
import { isNarrow, type Verdict, verdictOf } from './verdict.ts';

export interface Iteration {
  ours: [Sample, Sample];
  limit: [Sample, Sample];
  ratio: number;
  noise: Noise;
}

type Bounds = Omit<Target, 'open'>;

export interface Comparison {
  target: Bounds;
  warmUp: Iteration[];
  counted: Iteration[];
  discarded: Iteration[];
  ratio: number;
  interval: Interval;
  /** The larger of both sides' medians. Null without a load generator. */
  generatorShare: number | null;
  verdict: Verdict;
}

interface ComparePlan {
  /** The minimum number of counted iterations. More are made until the interval is narrow. */
  iterations: number;
  iterationsMax: number;
  onIteration(iteration: Iteration, number: number): void;
  /** Aborts the measurement. Everything opened is closed, and no result is returned. */
  signal: AbortSignal;
}

const warmUps = 2;

export async function compare(target: Target, plan: ComparePlan): Promise<Comparison> {
  const scenario = await target.open();
  const sentinel = createNoiseDetector();
  const warmUp: Iteration[] = [];
  const made: Iteration[] = [];
  try {
    while (warmUp.length < warmUps) warmUp.push(await iterate(scenario, sentinel.look()));
    while (!isEnough(made, plan)) {
      plan.signal.throwIfAborted();
      made.push(await iterate(scenario, sentinel.look()));
      plan.onIteration(last(made), made.length);
    }
  } finally {
    await scenario.close();
  }
  return conclude(target, { warmUp, made });
}

async function iterate(scenario: Scenario, noise: Noise): Promise<Iteration> {
  const first = await scenario.ours();
  const second = await scenario.limit();
  const third = await scenario.limit();
  const fourth = await scenario.ours();
  const ratio = (first.value + fourth.value) / (second.value + third.value);
  return { ours: [first, fourth], limit: [second, third], ratio, noise };
}

function isEnough(made: Iteration[], plan: ComparePlan): boolean {
  if (made.length >= plan.iterationsMax) return true;
  const ratios = quiet(made).map(({ ratio }) => ratio);
  return ratios.length >= plan.iterations && isNarrow(median(ratios), medianInterval(ratios));
}

function conclude(
  { id, title, unit, better, goal, gate }: Target,
  { warmUp, made }: { warmUp: Iteration[]; made: Iteration[] },
): Comparison {
  const target: Bounds = { id, title, unit, better, goal, gate };
  const counted = quiet(made);
  const ratios = counted.map((iteration) => iteration.ratio);
  const ratio = median(ratios);
  const interval = medianInterval(ratios);
  const generatorShare = shareOf(counted);
  return {
    target,
    warmUp,
    counted,
    discarded: made.filter((iteration) => !counted.includes(iteration)),
    ratio,
    interval,
    generatorShare,
    verdict: verdictOf(target, { ratio, interval, count: counted.length, generatorShare }),
  };
}

function shareOf(counted: Iteration[]): number | null {
  const sides = (['ours', 'limit'] as const).map((side) =>
    counted
      .flatMap((iteration) => iteration[side])
      .flatMap((sample) => sample.generatorShare ?? []),
  );
  const medians = sides.filter((shares) => shares.length > 0).map(median);
  return medians.length === 0 ? null : Math.max(...medians);
}

function quiet(made: Iteration[]): Iteration[] {
  const isQuiet = quietOnes(made.map(({ noise }) => noise));
  return made.filter((_, index) => isQuiet[index]);
}

function last(made: Iteration[]): Iteration {
  const iteration = made.at(-1);
  if (iteration === undefined) throw new Error('nothing was measured');
  return iteration;
}
