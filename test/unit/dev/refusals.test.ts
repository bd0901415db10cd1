import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { acquireLock } from '../../../dev/stack/lock.ts';
import { freePort } from '../../../dev/stack/ports.ts';

const programs = { demo: 'dev/demo/main.ts', stop: 'dev/stack/stop.ts' };

let folder: string;
let taken: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'flowrun-'));
  taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
});

afterEach(() => {
  taken.close();
  rmSync(folder, { recursive: true });
});

test.each(['FLOWRUN_API_PORT', 'FLOWRUN_TEMPORAL_PORT', 'FLOWRUN_TEMPORAL_UI_PORT'])(
  'the demo reports that the port of %s is in use, and starts nothing',
  async (variable) => {
    const { port } = taken.address() as AddressInfo; // listening on TCP
    const { code, said } = await command('demo', { ...(await freePorts()), [variable]: `${port}` });
    expect(said).toContain(`Port ${port} is in use by another program. Set ${variable}`);
    expect(code).toBe(1);
    expect(started()).toEqual([]);
  },
);

test('the demo rejects an invalid port, and starts nothing', async () => {
  const { code, said } = await command('demo', { FLOWRUN_API_PORT: 'eighty' });
  expect(said).toContain('FLOWRUN_API_PORT is eighty, which is not a port.');
  expect(code).toBe(1);
  expect(started()).toEqual([]);
});

test('a demo that failed prints the command that stops its servers, with the folder of its stack', async () => {
  const unusedAddress = '127.0.0.1:1';
  const { code, said } = await command('demo', {
    ...(await freePorts()),
    DATABASE_URL: `postgres://nobody@${unusedAddress}/none`,
    REDIS_URL: `redis://${unusedAddress}`,
    TEMPORAL_ADDRESS: unusedAddress,
    DOCKER_HOST: 'unix:///nowhere/docker.sock',
    ANTHROPIC_API_KEY: 'sk-none',
  });
  expect(code).toBe(1);
  expect(said).toContain(`for the next attempt; FLOWRUN_DATA=${folder} npm run stop stops them.`);
});

test.each(['demo', 'stop'] as const)(
  '%s fails while another command uses the stack',
  async (name) => {
    const lock = await acquireLock(join(folder, 'demo.lock'));
    const { code, said } = await command(name, await freePorts());
    await lock?.release();
    expect(said).toContain('Another command is using the demo stack');
    expect(code).toBe(1);
    expect(started()).toEqual([]);
  },
);

test('stop reports that nothing was running, and can be repeated', async () => {
  for (let i = 0; i < 2; i += 1) {
    expect(await command('stop')).toEqual({ code: 0, said: 'Nothing was running.\n' });
  }
});

async function command(name: keyof typeof programs, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(repository, programs[name])], {
    env: { ...process.env, TEMPORAL_ADDRESS: '', ...env, FLOWRUN_DATA: folder },
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, said };
}

async function freePorts(): Promise<Record<string, string>> {
  const [api, grpc, ui] = [await freePort(), await freePort(), await freePort()];
  return {
    FLOWRUN_API_PORT: `${api}`,
    FLOWRUN_TEMPORAL_PORT: `${grpc}`,
    FLOWRUN_TEMPORAL_UI_PORT: `${ui}`,
  };
}

/** A process of the stack, recorded by its pid file. */
function started(): string[] {
  const pids = join(folder, 'demo/pids');
  return existsSync(pids) ? readdirSync(pids) : [];
}
