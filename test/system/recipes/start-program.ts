import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { repository } from '../../../dev/lib/folders.ts';
import { freePort } from '../../../dev/stack/ports.ts';

interface Program {
  url: string;
  /** Both outputs so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Starts a server that listens on `PORT`, in a folder with the package that it imports. */
export async function startProgram(
  code: string,
  packageName: '@flowrun/client' | 'standardwebhooks',
  env: Record<string, string>,
): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), 'program-'));
  const installed = join(folder, 'node_modules', packageName);
  mkdirSync(dirname(installed), { recursive: true });
  if (packageName === '@flowrun/client')
    cpSync(join(repository, 'dist/client'), installed, { recursive: true });
  else symlinkSync(join(repository, 'node_modules', packageName), installed);
  writeFileSync(join(folder, 'program.mjs'), code);
  const port = await freePort();
  const child = spawn(process.execPath, ['program.mjs'], {
    cwd: folder,
    env: { ...env, PORT: String(port) },
  });
  let log = '';
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => (log += text));
  await expect.poll(() => listens(port), { timeout: 30_000, interval: 50 }).toBe(true);
  return {
    url: `http://127.0.0.1:${port}`,
    log: () => log,
    async stop() {
      const ended = once(child, 'close');
      child.kill();
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise<boolean>((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
