import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The allowed system calls. The engine takes the profile's text, not its path. For its origin see
 * seccomp.NOTICE.md.
 */
export const seccompProfile: string = JSON.stringify(
  JSON.parse(readFileSync(join(import.meta.dirname, 'seccomp.json'), 'utf8')),
);
