// The service itself, as processes that stay: migrations first, then the API, then a worker. They are
// started anew when their source or their surroundings have changed.

import { join } from 'node:path';
import { isRunning, startBackground, stopBackground } from './background.ts';
import { type Folders, repository } from './folders.ts';
import { hashOf, hashOfFolder } from './hash.ts';
import { step } from './progress.ts';
import { run } from './run.ts';
import type { ServiceEnv } from './service-env.ts';

const sources = ['api', 'activities', 'cli', 'config', 'core', 'systems', 'worker', 'workflows'];

export async function ensureService(folders: Folders, env: ServiceEnv): Promise<void> {
  const fingerprint = hashOf(
    JSON.stringify(env),
    ...sources.map((folder) => hashOfFolder(join(repository, folder))),
  );
  const url = env.PUBLIC_URL ?? '';
  await step('service', async (now) => {
    const same = ['api', 'worker'].every((name) => isRunning(folders, name, fingerprint));
    if (same && (await isReady(url))) return { value: undefined, said: `running on ${url}` };
    await stopService(folders);
    now('migrating');
    await run(process.execPath, typeScript('cli/main.ts', 'migrate'), processOptions(env));
    now('starting');
    await Promise.all([
      startBackground(folders, {
        name: 'api',
        ...program('api/main.ts', withoutModelKey(env)),
        fingerprint,
        ready: () => isReady(url),
      }),
      startBackground(folders, {
        name: 'worker',
        ...program('worker/main.ts', env),
        fingerprint,
        ready: async () => true,
      }),
    ]);
    return { value: undefined, said: `started on ${url}` };
  });
}

export async function stopService(folders: Folders): Promise<string[]> {
  const ended: string[] = [];
  for (const name of ['api', 'worker']) {
    if (await stopBackground(folders, name)) ended.push(name);
  }
  return ended;
}

function program(file: string, env: ServiceEnv) {
  return { command: process.execPath, args: typeScript(file), ...processOptions(env) };
}

function typeScript(file: string, ...args: string[]): string[] {
  return ['--import', 'tsx', file, ...args];
}

/** The reader's environment goes along (LOG_LEVEL, time limits …), but for the key itself. */
function processOptions(env: ServiceEnv) {
  const { ANTHROPIC_API_KEY: _key, ...inherited } = process.env;
  return { cwd: repository, env: { ...inherited, ...env } };
}

/** Only the worker talks to the model. */
function withoutModelKey({ ANTHROPIC_API_KEY_FILE: _file, ...env }: ServiceEnv): ServiceEnv {
  return env;
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) });
    return answer.status === 200;
  } catch {
    return false;
  }
}
