// Both sides are measured alternately (ours, limit, limit, ours), so that a slow machine affects
// both. One such round is an iteration. The first iterations are warm-up and do not count, because
// caches are cold and code is not compiled yet. All other iterations count, noisy ones too.

import { type Noise, watchNoise } from './noise.ts';
import type { OpenScenario, Sample, Scenario } from './scenario.ts';

/** A sample with the load generators' share of one CPU. Near 1, they are the bottleneck. */
interface TakenSample extends Sample {
  generatorShare: number;
}

export interface Iteration {
  isWarmUp: boolean;
  ours: [TakenSample, TakenSample];
  limit: [TakenSample, TakenSample];
  noise: Noise;
}

interface RunOptions {
  /** Overrides the scenario's own number. */
  iterations?: number | undefined;
  onIteration(iteration: Iteration, number: number): void;
  /** Aborts the measurement. Everything opened is closed, and no result is returned. */
  signal: AbortSignal;
}

export async function runScenario(scenario: Scenario, options: RunOptions): Promise<Iteration[]> {
  const counted = options.iterations ?? scenario.iterations;
  const warmUps = Math.min(scenario.warmUps, counted);
  const open = await scenario.open();
  const made: Iteration[] = [];
  try {
    while (made.length < warmUps + counted) {
      options.signal.throwIfAborted();
      const iteration = await iterate(open, made.length < warmUps);
      made.push(iteration);
      options.onIteration(iteration, made.length - warmUps);
    }
  } finally {
    await open.close();
  }
  return made;
}

async function iterate({ ours, limit }: OpenScenario, isWarmUp: boolean): Promise<Iteration> {
  const endWatch = watchNoise();
  const first = await take(ours);
  const second = await take(limit);
  const third = await take(limit);
  const fourth = await take(ours);
  return { isWarmUp, ours: [first, fourth], limit: [second, third], noise: endWatch() };
}

async function take(side: () => Promise<Sample>): Promise<TakenSample> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const sample = await side();
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const ownMs = (user + system) / 1_000;
  const generatorShare = Math.max(ownMs, sample.generatorCpuMs ?? 0) / elapsedMs;
  return { ...sample, generatorShare };
}
