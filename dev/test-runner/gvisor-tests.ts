// The tests of what sandboxes promise. They run on runc with all others, and once more on gVisor.

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../lib/folders.ts';

const ofTheEngine = 'test/integration/systems/docker';
const ofTheService = [
  'test/system/session-idle.test.ts',
  'test/system/session-watchdogs.test.ts',
  'test/system/watchdogs.test.ts',
];

/** Their paths; one that is gone is not passed over. */
export function gvisorTests(): string[] {
  const names = readdirSync(join(repository, ofTheEngine)).filter((name) =>
    name.endsWith('.test.ts'),
  );
  const files = [...names.map((name) => `${ofTheEngine}/${name}`), ...ofTheService];
  const gone = files.filter((file) => !existsSync(join(repository, file)));
  if (gone.length === 0) return files;
  throw new Error(`${gone.join(', ')}: to be run on gVisor, and not there`);
}

/** Whether one of them is among what `npm test -- …` was asked for. */
export function asksForGvisorTests(args: string[]): boolean {
  const filters = args.filter((arg) => !arg.startsWith('-'));
  return (
    filters.length === 0 || gvisorTests().some((file) => filters.some((f) => file.includes(f)))
  );
}
