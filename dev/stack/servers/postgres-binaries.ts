import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages } from '../../lib/apt.ts';
import { findOnPath, runCommand } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';

const packagedBinaries = '/usr/lib/postgresql';

/** The folder of the server's programs, of the version that a cluster needs if there is one. */
export async function postgresBinaries(
  cluster: string,
  progress: (doing: string) => void,
): Promise<string> {
  return (await findBinaries(cluster)) ?? (await installBinaries(cluster, progress));
}

/** The newest server there is; for a cluster that exists, the one of its version. */
async function findBinaries(cluster: string): Promise<string | undefined> {
  const wanted = existsSync(join(cluster, 'PG_VERSION'))
    ? readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
    : undefined;
  for (const folder of binaryFolders()) {
    if (!existsSync(join(folder, 'initdb')) || !existsSync(join(folder, 'postgres'))) continue;
    const version = /(\d+)/.exec(await runCommand(join(folder, 'postgres'), ['--version']))?.[1];
    if (wanted === undefined || wanted === version) return folder;
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
    `The cluster in ${cluster} is of another Postgres version than the installed ones. ` +
      'Install that version, or delete the folder and lose its data.',
  );
}
