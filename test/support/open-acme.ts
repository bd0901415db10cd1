import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ApiClient, createApiClient } from './api-client.ts';
import { commandEnv } from './command-env.ts';
import { compiledService } from './compiled-service.ts';
import { runShell } from './run-shell.ts';
import { type Service, startService } from './service.ts';

/** A service with the project and the flow that the pages name. */
export interface Acme {
  service: Service;
  flowId: string;
  /** Calls the API with a key of the project. */
  api: ApiClient;
  /** Runs commands in a folder in which `./flowrun` administers the service. Returns the output. */
  operate(script: string): Promise<string>;
  /** The folder of these commands, and their variables. */
  folder: string;
  env: Record<string, string | undefined>;
  close(): Promise<void>;
}

/** The receivers of the tests are on loopback. */
const allowed = { WEBHOOK_ALLOW_PRIVATE: '127.0.0.0/8' };

const setUp = `
./flowrun project create acme --name Acme
./flowrun flow create --project acme --name writer
./flowrun operator add ana
./flowrun key create --project acme --name test --rpm 6000`;

export async function openAcme(): Promise<Acme> {
  const service = await startService();
  const folder = mkdtempSync(join(tmpdir(), 'recipes-'));
  const program = join(await compiledService(), 'deploy/command-line.js');
  const wrapper = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`;
  writeFileSync(join(folder, 'flowrun'), wrapper);
  chmodSync(join(folder, 'flowrun'), 0o755);
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, FLOWRUN_DATA: '/nowhere', ...allowed, ...commandEnv(service) };

  async function operate(script: string): Promise<string> {
    const { code, out, err } = await runShell(script, { cwd: folder, env });
    expect(code, err).toBe(0);
    return out;
  }

  const key = (await operate(setUp)).trim().split('\n').at(-1) ?? '';
  const [flow] = JSON.parse(await operate('./flowrun flow list --project acme --json')) as {
    flowId: string;
  }[];
  const flowId = flow?.flowId ?? '';
  return {
    service,
    flowId,
    api: createApiClient({ url: service.url, key, flowId }),
    operate,
    folder,
    env,
    async close() {
      rmSync(folder, { recursive: true });
      await service.stop();
    },
  };
}
