import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '../dev/lib/folders.ts';
import { exitWithError, SetupError } from '../dev/lib/setup-error.ts';
import { type BenchOptions, readArguments } from './arguments.ts';
import { type Comparison, compare, type Iteration } from './measure/compare.ts';
import type { Target } from './measure/scenario.ts';
import type { SurveyResult } from './measure/survey.ts';
import { isMissed } from './measure/verdict.ts';
import { describeMachine } from './report/machine.ts';
import { comparisonText, summaryText, three } from './report/table.ts';
import { knownIds, surveys, targets } from './targets.ts';

const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.once(name, () => end.abort(new SetupError(`Ended by ${name}: nothing was concluded.`)));
}
await main().catch(exitWithError);

async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2), knownIds);
  const isSelected = ({ id }: { id: string }): boolean =>
    options.ids.length === 0 || options.ids.includes(id);
  const machine = await describeMachine();
  say(
    Object.entries(machine)
      .map(([name, value]) => `${name} ${value}`)
      .join(' · '),
  );

  const comparisons: Comparison[] = [];
  for (const target of targets.filter(isSelected)) comparisons.push(await measure(target, options));
  const surveyed: Record<string, SurveyResult['data']> = {};
  for (const survey of surveys.filter(isSelected)) {
    end.signal.throwIfAborted();
    const { text, data } = await survey.run(options);
    surveyed[survey.id] = data;
    say(`\n${survey.id}  ${survey.title}\n${text}`);
  }
  if (comparisons.length > 0) say(`\n${summaryText(comparisons)}`);

  const file = options.out ?? usualFile();
  mkdirSync(dirname(file), { recursive: true });
  const measured = { at: new Date().toISOString(), machine, comparisons, surveys: surveyed };
  writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
  say(`\nAll figures: ${file}`);
  if (comparisons.some(({ verdict }) => isMissed(verdict))) process.exitCode = 1;
}

async function measure(target: Target, options: BenchOptions): Promise<Comparison> {
  say(`\n${target.id} …`);
  const comparison = await compare(target, {
    ...options,
    signal: end.signal,
    onIteration: (iteration, number) => say(`    ${number}: ${formatIteration(iteration)}`),
  });
  say(comparisonText(comparison));
  return comparison;
}

function formatIteration({ ours, limit, ratio, noise }: Iteration): string {
  const [first, second] = [ours, limit].map((side) => side.map(({ value }) => three(value)));
  return `${ratio.toFixed(2)}  (${first?.join(', ')} / ${second?.join(', ')}; spin ${noise.spinMs.toFixed(0)} ms)`;
}

function usualFile(): string {
  const name = new Date().toISOString().replaceAll(/[:.]/g, '-');
  return join(repository, '.cache/bench', `${name}.json`);
}

function say(text: string): void {
  console.log(text);
}
