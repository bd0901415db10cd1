import { parseArgs } from 'node:util';
import { SetupError } from '../dev/lib/setup-error.ts';
import type { Scenario } from './measure/scenario.ts';

export interface BenchOptions {
  /** Those to measure, in the order of the list. */
  scenarios: Scenario[];
  isWhole: boolean;
  /** Undefined: each scenario's own number. */
  iterations: number | undefined;
  plantedDelayMs: number;
  runtime: 'runc' | 'runsc';
  temporal: 'dev' | 'postgres';
  /** The file for the figures. Null for the default folder. */
  out: string | null;
}

export function readArguments(args: string[], all: readonly Scenario[]): BenchOptions {
  const { values, positionals } = parse(args);
  const runtime = oneOf('runtime', values.runtime ?? 'runc', ['runc', 'runsc'] as const);
  const known = all.flatMap(({ id, targets }) => [id, ...targets.map((target) => target.id)]);
  const unknown = positionals.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    const ids = [...new Set(known)].join(', ');
    throw new SetupError(`There is no ${unknown} to measure, only ${ids}.`);
  }
  const scenarios = all
    .filter(({ runcOnly }) => runtime === 'runc' || runcOnly === undefined)
    .filter(({ id, targets, installPeer }) =>
      positionals.length === 0
        ? installPeer === undefined
        : [id, ...targets.map((target) => target.id)].some((each) => positionals.includes(each)),
    );
  const plantedDelayMs = number('plant-delay', values['plant-delay']) ?? 0;
  const iterations = number('n', values.n);
  return {
    scenarios,
    isWhole: positionals.length === 0 && iterations === undefined && plantedDelayMs === 0,
    iterations,
    plantedDelayMs,
    runtime,
    temporal: oneOf('temporal', values.temporal ?? 'dev', ['dev', 'postgres'] as const),
    out: values.out ?? null,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  const options = { n: text, out: text, runtime: text, temporal: text, 'plant-delay': text };
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new SetupError(`--${name} takes a positive number, not ${text}.`);
}

function oneOf<Value extends string>(name: string, text: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === text);
  if (found !== undefined) return found;
  throw new SetupError(`--${name} takes ${allowed.join(' or ')}, not ${text}.`);
}
