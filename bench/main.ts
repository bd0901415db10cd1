// Measures the selected scenarios on the servers of the environment, prints the table and writes
// every sample to a file. The exit code is 1 if a target is missed.

import { join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { type BenchOptions, readArguments } from './arguments.ts';
import { describeEnvironment, type Environment, readEnvironment } from './measure/environment.ts';
import { isNoisy } from './measure/noise.ts';
import {
  gatesOf,
  type Results,
  resultsFolder,
  type ScenarioResult,
  writeResults,
} from './measure/results.ts';
import { type Iteration, runScenario } from './measure/runner.ts';
import type { Scenario } from './measure/scenario.ts';
import { rowsOf, tableText, three } from './measure/table.ts';
import { ratioOf } from './measure/verdict.ts';
import { scenarios } from './scenarios/index.ts';
import { plantedDelayVariable } from './service/bench-service.ts';

const unpublishedFolder = join(repository, '.cache/bench');
const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => end.abort(new SetupError(`Ended by ${name}: nothing was concluded.`)));
}
await main().catch(exitWithError);

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2), scenarios);
  const { plantedDelayMs } = options;
  if (plantedDelayMs > 0) process.env[plantedDelayVariable] = String(plantedDelayMs);
  const environment = await readEnvironment();
  say(describeEnvironment(environment));
  if (plantedDelayMs > 0) say(`Every request sleeps ${plantedDelayMs} ms.`);
  const at = new Date().toISOString();
  const measured: ScenarioResult[] = [];
  const results: Results = { at, plantedDelayMs, environment, scenarios: measured };
  try {
    await measureAll(options, measured);
  } catch (error) {
    if (measured.length > 0) save(results, fileIn(unpublishedFolder, environment));
    throw error;
  }
  const rows = rowsOf(results, gatesOf(results));
  say(`\n${tableText(rows)}`);
  const folder = options.isWhole ? resultsFolder : unpublishedFolder;
  save(results, options.out ?? fileIn(folder, environment));
  if (rows.some(({ verdict }) => verdict === 'missed')) process.exitCode = 1;
}

/** Adds each result once it is complete, so that a later failure loses only its own scenario. */
async function measureAll(options: BenchOptions, measured: ScenarioResult[]): Promise<void> {
  for (const scenario of options.scenarios) {
    const missing = await scenario.installPeer?.();
    if (missing === undefined) measured.push(await measure(scenario, options));
    else say(`\n${missing}`);
  }
}

async function measure(scenario: Scenario, options: BenchOptions): Promise<ScenarioResult> {
  const { id, targets } = scenario;
  say(`\n${targets.map((target) => `${target.id}  ${target.title}`).join('\n')}`);
  const iterations = await runScenario(scenario, {
    iterations: options.iterations,
    signal: end.signal,
    onIteration: (iteration, number) => say(lineOf(scenario, iteration, number)),
  });
  return { id, targets, iterationsPlanned: scenario.iterations, iterations };
}

function lineOf({ targets }: Scenario, iteration: Iteration, number: number): string {
  const { isWarmUp, noise } = iteration;
  const ratios = targets.map(({ id }) => `${id} ${three(ratioOf(iteration, id))}`);
  const others = `other programs ${noise.otherCpus.toFixed(2)} CPUs, steal ${noise.steal.toFixed(2)}`;
  const name = isWarmUp ? 'warm-up' : String(number);
  return `  ${name}: ${ratios.join(', ')}  (${others}${isNoisy(noise) ? ', noisy' : ''})`;
}

/** Only a whole run belongs to the committed results. */
function fileIn(folder: string, environment: Environment): string {
  const time = new Date().toISOString().slice(0, 16).replaceAll(/[-:]/g, '');
  const { cores, runtime, temporalStore, commit } = environment;
  return join(folder, `${time}-${commit}-${cores}cores-${runtime}-${temporalStore}.json`);
}

function save(results: Results, file: string): void {
  writeResults(file, results);
  say(`\nAll samples: ${file}`);
}

function say(text: string): void {
  console.log(text);
}
