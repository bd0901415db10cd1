// `npm run test:compose` follows docs/operate.md with the real `docker compose`, in a machine
// namespace with its own Docker Engine: the installed one, or with NEWER_ENGINE=1 one that supports
// mounting folders of a volume.

import { join } from 'node:path';
import { ensureComposePlugin, ensureNewerEngine } from '../from-source/compose/programs.ts';
import { ensureSubstituteImages } from '../from-source/compose/substitute-images.ts';
import { type Folders, foldersOf, repository } from '../lib/folders.ts';
import { exitWithError } from '../lib/setup-error.ts';
import { withStackLock } from '../stack/lock.ts';
import { ensureAuthority } from '../stack/servers/authority.ts';
import { ensureBaseImage } from '../stack/servers/base-image.ts';
import { makeFreshClone } from './compose/fresh-clone.ts';
import { type Machine, startMachine } from './compose/machine.ts';
import { abortOnSignals } from './run-in-foreground.ts';
import { runTests } from './run-tests.ts';
import { reportTallies, type Tally } from './tally.ts';

await withStackLock('compose', testCompose)
  .then((tally) => reportTallies([tally]))
  .catch(exitWithError);

async function testCompose(): Promise<Tally> {
  const folders = foldersOf('compose');
  const signal = abortOnSignals();
  const dockerConfig = await ensureComposePlugin();
  const authority = await ensureAuthority(folders);
  const machine = await start(folders);
  try {
    await ensureBaseImage(machine.socket);
    await ensureSubstituteImages(machine);
    const clone = await makeFreshClone(join(folders.data, 'clone'));
    return await runTests({
      prefix: machine.enter(repository),
      env: {
        COMPOSE_CLONE: clone,
        COMPOSE_AUTHORITY: authority.folder,
        DOCKER_CONFIG: dockerConfig,
        DOCKER_BUILDKIT: '0', // BuildKit is a separate program, which would have to be built as well
      },
      resultFile: join(folders.data, 'compose.json'),
      args: ['--project', 'compose', ...process.argv.slice(2)],
      signal,
    });
  } finally {
    await machine.stop();
  }
}

/** Each engine has its own folder, because it cannot read the images of the other. */
async function start({ data }: Folders): Promise<Machine> {
  if (process.env.NEWER_ENGINE !== '1') return startMachine(join(data, 'machine'));
  return startMachine(join(data, 'newer-machine'), await ensureNewerEngine());
}
