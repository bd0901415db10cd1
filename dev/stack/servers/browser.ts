// The browser of the tests: Chromium, which is installed from Debian if it is missing.

import { installPackages } from '../../lib/apt.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';

/** Returns the path of the program. */
export function ensureBrowser(): Promise<string> {
  return step('browser', async (progress) => {
    const found = find();
    if (found !== undefined) return { value: found, summary: `found at ${found}` };
    await installPackages(['chromium'], progress);
    const installed = find();
    if (installed === undefined)
      throw new SetupError('chromium was installed but cannot be found.');
    return { value: installed, summary: `installed at ${installed}` };
  });
}

const find = () => findOnPath('chromium', ['/usr/bin']);
