// Prometheus' tool that tests alert rules: the installed one, or that of Debian's package. The
// package is not installed, because it would start Prometheus with the machine.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { downloadPackage } from '../../lib/apt.ts';
import { cacheFolder } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { withFileLock } from '../lock.ts';

/** Returns the path of the program. */
export function ensurePromtool(): Promise<string> {
  return step('promtool', async (progress) => {
    const found = findOnPath('promtool', ['/usr/bin']);
    if (found !== undefined) return { value: found, summary: `found at ${found}` };
    const program = join(cacheFolder(), 'promtool');
    await withFileLock(`${program}.lock`, async () => {
      if (!existsSync(program)) await unpack(program, progress);
    });
    return { value: program, summary: `unpacked at ${program}` };
  });
}

async function unpack(program: string, progress: (doing: string) => void): Promise<void> {
  const folder = `${program}.part`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await downloadPackage({ name: 'prometheus', folder }, progress);
  const script =
    'dpkg-deb --fsys-tarfile "$0"/prometheus_*.deb | tar -x -C "$0" ./usr/bin/promtool';
  await runCommand('bash', ['-o', 'pipefail', '-c', script, folder]);
  renameSync(join(folder, 'usr/bin/promtool'), program);
  rmSync(folder, { recursive: true });
}
