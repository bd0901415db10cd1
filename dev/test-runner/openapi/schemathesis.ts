import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { withFileLock } from '../../stack/lock.ts';

const version = '4.32.5';

/** Installs Schemathesis from PyPI, separate from other programs, and returns its path. */
export function ensureSchemathesis(): Promise<string> {
  return step('schemathesis', async (progress) => {
    const python = findOnPath('python3');
    if (python === undefined)
      throw new SetupError(
        'Schemathesis needs Python 3.10 or newer. Install python3 and its venv.',
      );
    const folder = join(cacheFolder(), `schemathesis-${version}`);
    const program = join(folder, 'bin/schemathesis');
    await withFileLock(`${folder}.lock`, async () => {
      if (!existsSync(program)) await install({ python, folder, progress });
    });
    return { value: program, summary: `${version} at ${program}` };
  });
}

interface Installation {
  python: string;
  folder: string;
  progress: (doing: string) => void;
}

/** A half-made environment is removed, so that the next call begins again. */
async function install({ python, folder, progress }: Installation): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  progress('installing it from PyPI');
  try {
    await runCommand(python, ['-m', 'venv', folder]);
    const pip = join(folder, 'bin/pip');
    await runCommand(pip, ['install', '--quiet', `schemathesis==${version}`]);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new SetupError(
      `Schemathesis ${version} could not be installed. It needs Python 3.10 or newer, its module venv ` +
        `(Debian: python3-venv) and PyPI, or the mirror in PIP_INDEX_URL.\n${String(cause)}`,
    );
  }
}
