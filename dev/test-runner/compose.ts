// Tells the story of docs/operate.md with the real `docker compose`, on a machine within this one:
// with the Docker Engine that is installed or, by NEWER_ENGINE=1, one that gives folders of a volume.

import { join } from 'node:path';
import { ensureComposePlugin, ensureNewerEngine } from '../from-source/compose/programs.ts';
import { ensureStandIns } from '../from-source/compose/stand-ins.ts';
import { type Folders, foldersOf, repository } from '../lib/folders.ts';
import { print } from '../lib/progress.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { withStackLock } from '../stack/lock.ts';
import { ensureAuthority } from '../stack/servers/authority.ts';
import { ensureBaseImage } from '../stack/servers/base-image.ts';
import { makeFreshClone } from './compose/fresh-clone.ts';
import { type Machine, startMachine } from './compose/machine.ts';
import { runTests, type Tally } from './test-steps.ts';

await withStackLock('compose', tell).then(report).catch(exitWithError);

async function tell(): Promise<Tally> {
  const folders = foldersOf('compose');
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  const dockerConfig = await ensureComposePlugin();
  const authority = await ensureAuthority(folders);
  const machine = await start(folders);
  try {
    await ensureBaseImage(machine.socket);
    await ensureStandIns(machine);
    const clone = await makeFreshClone(join(folders.data, 'clone'));
    return await runTests({
      prefix: machine.enter(repository),
      env: {
        COMPOSE_CLONE: clone,
        COMPOSE_AUTHORITY: authority.folder,
        DOCKER_CONFIG: dockerConfig,
        DOCKER_BUILDKIT: '0', // the other builder is one more program that no registry brings
      },
      resultFile: join(folders.data, 'compose.json'),
      args: ['--project', 'compose', ...process.argv.slice(2)],
      signal: end.signal,
    });
  } finally {
    await machine.stop();
  }
}

/** What engines keep of images is their own, so each has its folder. */
async function start({ data }: Folders): Promise<Machine> {
  if (process.env.NEWER_ENGINE !== '1') return startMachine(join(data, 'machine'));
  return startMachine(join(data, 'newer-machine'), await ensureNewerEngine());
}

function report({ passed, failed }: Tally): void {
  print(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
