import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { withFileLock } from '../../stack/lock.ts';
import { makeEnvironment } from '../python/virtual-environment.ts';

const version = '4.32.5';

/** Installs Schemathesis, which needs Python 3.10 or newer, and returns its path. */
export function ensureSchemathesis(): Promise<string> {
  return step('schemathesis', async (progress) => {
    const folder = join(cacheFolder(), `schemathesis-${version}`);
    const program = join(folder, 'bin/schemathesis');
    const packages = [`schemathesis==${version}`];
    await withFileLock(`${folder}.lock`, async () => {
      if (!existsSync(program)) await makeEnvironment({ folder, packages, progress });
    });
    return { value: program, summary: `${version} at ${program}` };
  });
}
