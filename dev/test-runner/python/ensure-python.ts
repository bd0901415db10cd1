// The Python of the tests of the Python client, with the packages that they need.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../lib/folders.ts';
import { hashOf } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { withFileLock } from '../../stack/lock.ts';
import { findPython, makeEnvironment } from './virtual-environment.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');
const minor = 9;

/** Returns the path of the program. The packages are installed once per version of Python. */
export function ensurePython(): Promise<string> {
  return step('python', async (progress) => {
    const version = await versionOf(await findPython(progress));
    const hash = hashOf(version, readFileSync(requirements));
    const folder = join(cacheFolder(), `python-${hash}`);
    const program = join(folder, 'bin/python');
    const isComplete = () => existsSync(join(folder, 'complete'));
    await withFileLock(`${folder}.lock`, async () => {
      if (isComplete()) return;
      const packages = ['--require-hashes', '--only-binary', ':all:', '-r', requirements];
      await makeEnvironment({ folder, packages, progress });
      writeFileSync(join(folder, 'complete'), '');
    });
    return { value: program, summary: `${version} at ${program}` };
  });
}

async function versionOf(python: string): Promise<string> {
  const code = 'import sys; print("%d.%d.%d" % sys.version_info[:3])';
  const version = (await runCommand(python, ['-c', code])).trim();
  const [major = 0, ownMinor = 0] = version.split('.').map(Number);
  if (major === 3 && ownMinor >= minor) return version;
  throw new SetupError(`The Python client needs Python 3.${minor} or newer, not ${version}.`);
}
