// The tests of sandboxes run on runc with all others, and a second time on gVisor.

import { readdirSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { repository } from '../lib/folders.ts';

/** Paths and patterns. Vitest's project `gvisor` includes them. */
export const gvisorTests = [
  'test/integration/systems/docker/*.test.ts',
  'test/system/session-idle.test.ts',
  'test/system/session-watchdogs.test.ts',
  'test/system/watchdogs.test.ts',
];

/** Their paths. Throws if one of them no longer exists. */
export function gvisorTestFiles(): string[] {
  const found = gvisorTests.map(filesMatching);
  const missing = gvisorTests.filter((_, index) => found[index]?.length === 0);
  if (missing.length === 0) return found.flat();
  throw new Error(`${missing.join(', ')}: listed for gVisor, but no such test exists.`);
}

function filesMatching(pattern: string): string[] {
  const folder = dirname(pattern);
  const paths = readdirSync(join(repository, folder)).map((name) => `${folder}/${name}`);
  return paths.filter((path) => matchesGlob(path, pattern));
}
