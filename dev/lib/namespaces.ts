import { readFileSync } from 'node:fs';
import { runCommand } from './run-command.ts';

/**
 * Unmounts the namespaces that a stopped engine leaves below its folder, which cannot be deleted
 * otherwise. A mount that cannot be removed is ignored: the engine has stopped all the same.
 */
export async function unmountNamespaces(folder: string): Promise<void> {
  const mounts = namespacesBelow(folder, readFileSync('/proc/self/mounts', 'utf8'));
  for (const at of mounts.toReversed()) await runCommand('umount', [at]).catch(() => undefined);
}

/** Does not list file systems of containers: a container that still runs needs them. */
export function namespacesBelow(folder: string, mounts: string): string[] {
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'nsfs')
    .map(([, at = '']) => unescaped(at))
    .filter((at) => at.startsWith(`${folder}/`));
}

/** /proc/self/mounts escapes white space and backslashes in octal. */
const unescaped = (path: string): string =>
  path.replaceAll(/\\(\d{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
