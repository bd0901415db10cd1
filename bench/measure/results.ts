import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../../dev/lib/folders.ts';
import { SetupError } from '../../dev/lib/setup-error.ts';
import type { Environment } from './environment.ts';
import type { Iteration } from './runner.ts';
import type { Target } from './scenario.ts';
import type { Measurement } from './verdict.ts';

export interface ScenarioResult {
  id: string;
  targets: readonly Target[];
  iterationsPlanned: number;
  iterations: Iteration[];
}

/** Everything that one run of the command has measured. */
export interface Results {
  at: string;
  /** The sleep that was planted on the path of a request. 0 in every published run. */
  plantedDelayMs: number;
  environment: Environment;
  scenarios: ScenarioResult[];
}

export type Gates = Record<string, number>;

export const resultsFolder = join(repository, 'bench/results');
const gatesFile = join(repository, 'bench/gates.json');

export function measurementsOf({ scenarios }: Results): Measurement[] {
  return scenarios.flatMap(({ targets, iterationsPlanned, iterations }) =>
    targets.map((target) => ({ target, iterationsPlanned, iterations })),
  );
}

/** One iteration a line, so that the committed files have readable differences. */
export function writeResults(file: string, { scenarios, ...head }: Results): void {
  const parts = scenarios.map(({ iterations, ...scenario }) => {
    const lines = iterations.map((iteration) => JSON.stringify(roundNumbers(iteration)));
    return `${JSON.stringify(scenario).slice(0, -1)},"iterations":[\n${lines.join(',\n')}\n]}`;
  });
  const text = `${JSON.stringify(head).slice(0, -1)},\n"scenarios":[\n${parts.join(',\n')}\n]}\n`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export function readResults(file: string): Results {
  if (!existsSync(file)) throw new SetupError(`There is no file ${file}.`);
  return JSON.parse(readFileSync(file, 'utf8')) as Results; // written by writeResults
}

/** The published runs without a planted delay, the oldest first. */
export function publishedResults(folder: string = resultsFolder): Results[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => readResults(join(folder, file)))
    .filter(({ plantedDelayMs }) => plantedDelayMs === 0)
    .sort((a, b) => a.at.localeCompare(b.at));
}

/**
 * The newest published run of each kind. Runc with Temporal's development store is the first: the
 * README shows it.
 */
export function latestResults(folder: string = resultsFolder): Results[] {
  const all = publishedResults(folder);
  const byKind = new Map(all.map((results) => [kindOf(results), results]));
  const newest = [...byKind.values()].sort((a, b) => kindOf(a).localeCompare(kindOf(b)));
  return [...newest.filter(isUsual), ...newest.filter((results) => !isUsual(results))];
}

/** Only runs of the same kind are compared with each other and with gates. */
export function kindOf(results: Pick<Results, 'environment' | 'scenarios'>): string {
  const { runtime = '', temporalStore = '', cores = '' } = results.environment;
  const kind = `${runtime}, ${cores} cores, Temporal on ${temporalStore}`;
  return isAgainstPeers(results) ? `${kind}, against peers` : kind;
}

function isUsual(results: Results): boolean {
  const { runtime, temporalStore } = results.environment;
  return runtime === 'runc' && temporalStore === 'sqlite' && !isAgainstPeers(results);
}

export const isAgainstPeers = ({ scenarios: [first] }: Pick<Results, 'scenarios'>): boolean =>
  first?.id === 'peers';

/** The gates by kind of run. */
export function readGates(): Record<string, Gates> {
  return JSON.parse(readFileSync(gatesFile, 'utf8')) as Record<string, Gates>; // by writeGates
}

/** None for a kind of run that has set no gates. */
export function gatesOf(results: Pick<Results, 'environment' | 'scenarios'>): Gates {
  return readGates()[kindOf(results)] ?? {};
}

export function writeGates(gates: Record<string, Gates>): void {
  writeFileSync(gatesFile, `${JSON.stringify(gates, null, 2)}\n`);
}

/** Six significant digits: more would only be noise. */
function roundNumbers(iteration: Iteration): unknown {
  const text = JSON.stringify(iteration, (_key, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value,
  );
  return JSON.parse(text);
}
