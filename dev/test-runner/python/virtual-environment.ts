import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../../lib/apt.ts';
import { isRoot } from '../../lib/folders.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';

interface Environment {
  folder: string;
  /** The arguments of `pip install`. */
  packages: string[];
  progress: (doing: string) => void;
}

/**
 * Installs packages from PyPI, or from the mirror that pip is configured for, separate from other
 * programs. A half-made environment is removed, so that the next call begins again.
 */
export async function makeEnvironment(environment: Environment): Promise<void> {
  const { folder, packages, progress } = environment;
  rmSync(folder, { recursive: true, force: true });
  try {
    await makeEmpty(folder, progress);
    progress('installing packages from PyPI');
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
    await runCommand(join(folder, 'bin/python'), [...pip, ...packages]);
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new SetupError(
      `${packages.at(-1)} could not be installed. It needs Python with its module venv ` +
        `(Debian: python3-venv) and PyPI, or the mirror in PIP_INDEX_URL.\n${String(cause)}`,
    );
  }
}

/** Debian has the part of venv that brings pip in a separate package. */
async function makeEmpty(folder: string, progress: (doing: string) => void): Promise<void> {
  const python = await findPython(progress);
  const make = () => runCommand(python, ['-m', 'venv', '--clear', folder]);
  await make().catch(async (error: unknown) => {
    if (!isRoot || findOnPath('apt-get') === undefined) throw error;
    await installPackages(['python3-venv'], progress);
    return make();
  });
}

/** Returns the path of Python. On Debian as root, it is installed if it is missing. */
export async function findPython(progress: (doing: string) => void): Promise<string> {
  const found = findOnPath('python3');
  if (found !== undefined) return found;
  await installPackages(['python3', 'python3-venv'], progress);
  return 'python3';
}
