import { parseArgs } from 'node:util';
import { SetupError } from '../dev/lib/setup-error.ts';

export interface BenchOptions {
  /** Ids of the benchmarks to run. Empty for all. */
  ids: string[];
  iterations: number;
  iterationsMax: number;
  /** The file for the figures. Null for the default folder of results. */
  out: string | null;
}

const iterationsUsual = 15;
const iterationsMost = 45;

export function readArguments(args: string[], known: readonly string[]): BenchOptions {
  const { values, positionals } = parse(args);
  const unknown = positionals.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    throw new SetupError(`There is no ${unknown} to measure, only ${known.join(', ')}.`);
  }
  const iterations = count('n', values.n) ?? iterationsUsual;
  const usualMax = iterations < iterationsUsual ? iterations : iterationsMost;
  const iterationsMax = Math.max(iterations, count('max', values.max) ?? usualMax);
  return { ids: positionals, iterations, iterationsMax, out: values.out ?? null };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options: { n: text, max: text, out: text } });
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error));
  }
}

function count(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new SetupError(`--${name} takes a number of iterations, not ${text}.`);
}
