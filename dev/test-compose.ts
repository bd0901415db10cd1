// Tells the story of docs/operate.md with the real `docker compose`, on a machine within this one.

import { join } from 'node:path';
import { makeFreshClone } from './compose/fresh-clone.ts';
import { startMachine } from './compose/machine.ts';
import { ensureComposePlugin } from './compose/programs.ts';
import { ensureStandIns } from './compose/stand-ins.ts';
import { failWith } from './failure.ts';
import { foldersOf, repository } from './folders.ts';
import { withStackLock } from './lock.ts';
import { ensureAuthority } from './parts/authority.ts';
import { ensureBaseImage } from './parts/base-image.ts';
import { say } from './progress.ts';
import { runTests, type Tally } from './test-steps.ts';

await withStackLock('compose', tell).then(report).catch(failWith);

async function tell(): Promise<Tally> {
  const folders = foldersOf('compose');
  const end = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => end.abort());
  const dockerConfig = await ensureComposePlugin();
  const authority = await ensureAuthority(folders);
  const machine = await startMachine(join(folders.data, 'machine'));
  try {
    await ensureBaseImage(machine.socket);
    await ensureStandIns(machine);
    const clone = await makeFreshClone(join(folders.data, 'clone'));
    return await runTests({
      within: machine.enter(repository),
      env: {
        COMPOSE_CLONE: clone,
        COMPOSE_AUTHORITY: authority.folder,
        DOCKER_CONFIG: dockerConfig,
        DOCKER_BUILDKIT: '0', // the other builder is one more program that no registry brings
      },
      resultFile: join(folders.data, 'compose.json'),
      args: ['--config', 'vitest.compose.config.ts', ...process.argv.slice(2)],
      signal: end.signal,
    });
  } finally {
    await machine.stop();
  }
}

function report({ passed, failed }: Tally): void {
  say(`\n${passed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
