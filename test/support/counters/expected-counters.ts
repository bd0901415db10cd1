import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type Counters, combine } from './counters.ts';

/** By what the cost is for: `run`, `turn` and so on. */
type Costs = Readonly<Record<string, Counters>>;

const file = new URL('../../system/counters/expected-counters.json', import.meta.url).pathname;
/** Set by `npm run counters`. */
const isAccepting = (): boolean => process.env['ACCEPT_COUNTERS'] === '1';

/** The committed counters; null if new ones are to be written. */
export function expectedCounters(subject: string): Counters | null {
  if (isAccepting()) return null;
  const expected = readFile()[subject];
  if (expected === undefined) throw new Error(`no counters of ${subject}. ${advice}`);
  return expected;
}

/** Requires the committed counters, or writes new ones. */
export function requireExpected(subject: string, actual: Counters): void {
  const expected = expectedCounters(subject);
  if (expected === null) acceptCounters(subject, actual);
  else requireEqual(subject, { expected, actual, times: 1 });
}

/** Writes the counters if they are to be accepted. */
export function acceptCounters(subject: string, counters: Counters): void {
  if (!isAccepting()) return;
  writeFileSync(file, `${JSON.stringify({ ...readFile(), [subject]: counters }, null, 2)}\n`);
}

const readFile = (): Costs =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Costs) : {}; // written above

/** Throws a text that names every counter that differs. */
export function requireEqual(
  subject: string,
  { expected, actual, times }: { expected: Counters; actual: Counters; times: number },
): void {
  const differences = differencesOf(expected, actual, times);
  if (differences.length === 0) return;
  const many = times === 1 ? `one ${subject}` : `${times} times ${subject}`;
  throw new CountersChanged(
    `The counters of ${many} have changed:\n${differences.join('\n')}\n${advice}`,
  );
}

export class CountersChanged extends Error {
  override name = 'CountersChanged';
}

const advice =
  'If the change is intended, run `npm run counters` and commit expected-counters.json.';

function differencesOf(expected: Counters, actual: Counters, times: number): string[] {
  const all = combine(expected, {}, (count) => count * times);
  const changes = combine(all, actual, (before, now) => now - before);
  return Object.entries(changes)
    .filter(([, change]) => change !== 0)
    .map(([name]) => `  ${name}: ${all[name] ?? 0} → ${actual[name] ?? 0}`);
}
