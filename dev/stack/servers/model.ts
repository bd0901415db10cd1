// The model: Anthropic's if a key is set, otherwise the offline model, a process that implements
// the Messages API. The service gets the key as a file, never as a variable or an argument.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folders, repository } from '../../lib/folders.ts';
import { hashOfFolder } from '../../lib/hash.ts';
import { step } from '../../lib/progress.ts';
import { isRunning, startDaemon, stopDaemon } from '../daemon.ts';
import { acceptsConnections, ensurePort, readPort } from '../ports.ts';

const name = 'model';

/** Without a key it is the offline model. */
export type Model =
  | { keyFile: string; baseUrl: string | undefined }
  | { keyFile: null; baseUrl: string };

export function ensureModel(folders: Folders): Promise<Model> {
  return step<Model>(name, async () => {
    const { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: baseUrl } = process.env;
    if (key) {
      const keyFile = join(folders.data, 'model-key.external');
      writeFileSync(keyFile, `${key}\n`, { mode: 0o600 });
      return { value: { keyFile, baseUrl }, summary: 'set by ANTHROPIC_API_KEY' };
    }
    const { port, state } = await ensureOffline(folders);
    const value = { keyFile: null, baseUrl: `http://127.0.0.1:${port}` };
    return { value, summary: `offline model ${state} on 127.0.0.1:${port} (no ANTHROPIC_API_KEY)` };
  });
}

export function stopModel(folders: Folders): Promise<boolean> {
  return stopDaemon(folders, name);
}

async function ensureOffline(folders: Folders): Promise<{ port: number; state: string }> {
  const lastPort = readPort(join(folders.data, `${name}.port`));
  const fingerprint = hashOfFolder(join(repository, 'offline-model'));
  if (
    lastPort !== undefined &&
    isRunning(folders, name, fingerprint) &&
    (await acceptsConnections(lastPort))
  ) {
    return { port: lastPort, state: 'running' };
  }
  await stopModel(folders);
  const port = await ensurePort(folders.data, name);
  await startDaemon(folders, {
    name,
    command: process.execPath,
    args: ['offline-model/main.ts', '--port', `${port}`],
    cwd: repository,
    fingerprint,
    ready: () => acceptsConnections(port),
  });
  return { port, state: 'started' };
}
