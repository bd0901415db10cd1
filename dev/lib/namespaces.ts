import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

/**
 * What an engine that has ended leaves mounted below its folder, which nobody could remove else. What
 * cannot be unmounted stays: the engine has ended all the same.
 */
export async function unmountNamespaces(folder: string): Promise<void> {
  const mounts = namespacesBelow(folder, readFileSync('/proc/self/mounts', 'utf8'));
  for (const at of mounts.toReversed()) await runCommand('umount', [at]).catch(() => undefined);
}

/** File systems of containers are left alone: one that still runs has its files there. */
export function namespacesBelow(folder: string, mounts: string): string[] {
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'nsfs')
    .map(([, at = '']) => unescaped(at))
    .filter((at) => at.startsWith(`${folder}/`));
}

/** White space and backslashes stand there in octal. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
