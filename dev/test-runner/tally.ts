import { print } from '../lib/progress.ts';

export interface Tally {
  passed: number;
  failed: number;
  /** A line that is printed above the sums. */
  note?: string;
}

/** Prints the sums as the last line. A failure sets the exit code. */
export function reportTallies(tallies: Tally[]): void {
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  print('');
  for (const { note } of tallies) if (note !== undefined) print(note);
  print(`${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
