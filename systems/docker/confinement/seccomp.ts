import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The system calls a sandbox may make, as the engine wants it: the profile's text, not its path. What
 * it is derived from, and how, stands in seccomp.NOTICE.md.
 */
export const seccompProfile: string = JSON.stringify(
  JSON.parse(readFileSync(join(import.meta.dirname, 'seccomp.json'), 'utf8')),
);
