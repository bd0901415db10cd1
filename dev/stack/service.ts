// Migrates the database, then starts the API and a worker as daemons. They are restarted if their
// source or settings have changed.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Folders, repository } from '../lib/folders.ts';
import { hashOf, hashOfFolder } from '../lib/hash.ts';
import { step } from '../lib/progress.ts';
import { runCommand } from '../lib/run-command.ts';
import { ensureServedPackages } from '../lib/served-packages.ts';
import { settleAll } from '../lib/settle-all.ts';
import { isRunning, startDaemon, stopDaemon } from './daemon.ts';
import { type ServiceEnv, workerMetrics } from './service-env.ts';

const sources = [
  'api',
  'activities',
  'cli',
  'client',
  'config',
  'core',
  'deploy',
  'lib',
  'systems',
  'worker',
  'workflows',
];

export async function ensureService(folders: Folders, env: ServiceEnv): Promise<void> {
  const fingerprint = hashOf(
    JSON.stringify(env),
    ...sources.map((folder) => hashOfFolder(join(repository, folder))),
  );
  const url = env.PUBLIC_URL ?? '';
  await step('service', async (progress) => {
    await ensureServedPackages();
    const same = ['api', 'worker'].every((name) => isRunning(folders, name, fingerprint));
    if (same && (await isReady(url))) return { value: undefined, summary: `running on ${url}` };
    await stopService(folders);
    progress('migrating');
    await runCommand(process.execPath, ['deploy/command-line.ts', 'migrate'], processOptions(env));
    progress('starting');
    await settleAll([
      startDaemon(folders, {
        name: 'api',
        ...program('api/main.ts', withoutModelKey(env)),
        fingerprint,
        ready: () => isReady(url),
      }),
      startDaemon(folders, {
        name: 'worker',
        ...program('worker/main.ts', { ...env, ...workerMetrics() }),
        fingerprint,
        ready: async () => logsReady(join(folders.logs, 'worker.log')),
      }),
    ]);
    return { value: undefined, summary: `started on ${url}` };
  });
}

export async function stopService(folders: Folders): Promise<string[]> {
  const ended: string[] = [];
  for (const name of ['api', 'worker']) {
    if (await stopDaemon(folders, name)) ended.push(name);
  }
  return ended;
}

function program(file: string, env: ServiceEnv) {
  return { command: process.execPath, args: [file], ...processOptions(env) };
}

/** Passes on the reader's environment, except the secrets that the stack passes as files. */
function processOptions(env: ServiceEnv) {
  const { ANTHROPIC_API_KEY: _model, ENCRYPTION_KEY: _key, ...inherited } = process.env;
  return { cwd: repository, env: { ...inherited, ...env } };
}

/** Only the worker calls the model. */
function withoutModelKey({ ANTHROPIC_API_KEY_FILE: _file, ...env }: ServiceEnv): ServiceEnv {
  return env;
}

/**
 * A worker has no endpoint: its log reports that it accepts work, unless the log level hides that.
 */
function logsReady(logFile: string): boolean {
  const isQuiet = ['warn', 'error', 'fatal', 'silent'].includes(process.env.LOG_LEVEL ?? '');
  return isQuiet || readFileSync(logFile, 'utf8').includes('worker_ready');
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2000) });
    return answer.status === 200;
  } catch {
    return false;
  }
}
