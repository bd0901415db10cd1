import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from '../../lib/apt.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';

const packagedBinaries = '/usr/lib/postgresql';

/** Returns the folder of the server's programs, in the version of the cluster if it exists. */
export async function postgresBinaries(
  cluster: string,
  progress: (doing: string) => void,
): Promise<string> {
  return (await findBinaries(cluster)) ?? (await installBinaries(cluster, progress));
}

/** Finds the newest server, or that of the cluster's version. */
async function findBinaries(cluster: string): Promise<string | undefined> {
  const required = existsSync(join(cluster, 'PG_VERSION'))
    ? readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    : undefined;
  for (const folder of binaryFolders()) {
    if (!existsSync(join(folder, 'initdb')) || !existsSync(join(folder, 'postgres'))) continue;
    const version = /(\d+)/.exec(await runCommand(join(folder, 'postgres'), ['--version']))?.[1];
    if (required === undefined || required === version) return folder;
  }
  return undefined;
}

function binaryFolders(): string[] {
  const packaged = existsSync(packagedBinaries) ? readdirSync(packagedBinaries) : [];
  const newestFirst = packaged.sort((a, b) => Number(b) - Number(a));
  const onPath = findOnPath('initdb');
  return [
    ...newestFirst.map((version) => join(packagedBinaries, version, 'bin')),
    ...(onPath === undefined ? [] : [dirname(onPath)]),
  ];
}

async function installBinaries(
  cluster: string,
  progress: (doing: string) => void,
): Promise<string> {
  await installPackages(['postgresql', 'postgresql-common'], progress);
  const binaries = await findBinaries(cluster);
  if (binaries !== undefined) return binaries;
  throw new SetupError(
    `No installed Postgres has the version of the cluster in ${cluster}. ` +
      'Install that version, or delete the folder with its data.',
  );
}
