// `docker compose` and Temporal's web interface, from their sources, where no registry brings them.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { needRoomToBuild } from '../disk.ts';
import { CannotGoOn } from '../failure.ts';
import { cacheFolder, repository } from '../folders.ts';
import { hashOf } from '../hash.ts';
import { step } from '../progress.ts';
import { findOnPath, run } from '../run.ts';

const composeVersion = '2.40.3';
const versionVariable = 'github.com/docker/compose/v2/internal.Version';

interface Program {
  name: string;
  from: string;
  folder: string;
  flags: string;
}

/** The folder that the docker command line finds its plug-in in, as its configuration. */
export async function ensureComposePlugin(): Promise<string> {
  const plugin = {
    name: 'cli-plugins/docker-compose',
    from: 'github.com/docker/compose/v2/cmd',
    folder: 'plugin',
    flags: ` -X ${versionVariable}=${composeVersion}`,
  };
  const file = await ensureProgram('docker compose', plugin);
  return join(file, '../..');
}

export function ensureTemporalUi(): Promise<string> {
  const from = 'github.com/temporalio/ui-server/v2/cmd/server';
  return ensureProgram('temporal ui', {
    name: 'ui-server',
    from,
    folder: 'temporal-ui',
    flags: '',
  });
}

function ensureProgram(title: string, program: Program): Promise<string> {
  return step(title, async (now) => {
    const module = join(repository, 'dev/compose', program.folder);
    const key = hashOf(readFileSync(join(module, 'go.sum')), program.flags);
    const folder = join(cacheFolder(), `${program.folder}-${key}`);
    const file = join(folder, program.name);
    if (existsSync(file)) return { value: file, said: 'is there' };
    const go = findOnPath('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
    if (go === undefined) throw new CannotGoOn(`Go is needed to build ${title}.`);
    needRoomToBuild(cacheFolder(), `building ${title}`);
    now('building it (the first time takes minutes)');
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part);
    const flags = ['-trimpath', '-ldflags', `-s -w${program.flags}`];
    const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' };
    await run(go, ['build', ...flags, '-o', join(part, program.name), program.from], {
      cwd: module,
      env,
    });
    renameSync(part, folder);
    return { value: file, said: 'built' };
  });
}
