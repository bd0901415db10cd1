import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repository } from '../../../../dev/lib/folders.ts';
import { DataDirLockedError, lockDataDir } from '../../../../worker/host/data-dir-lock.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'frs-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('the data directory of a worker', () => {
  it('keeps the same host id across restarts', () => {
    const first = lockDataDir(dataDir);
    first.release();
    const second = lockDataDir(dataDir);
    second.release();
    expect(second.hostId).toBe(first.hostId);
    expect(first.hostId).toMatch(/^host-[0-9a-f]{8}$/);
  });

  it('has the same owner after a restart, and a copy has another one', () => {
    const first = lockDataDir(dataDir);
    first.release();
    rmSync(join(dataDir, 'lock'));
    const second = lockDataDir(dataDir);
    second.release();
    expect(second.owner).toBe(first.owner);
    const copy = `${dataDir}-copy`;
    cpSync(dataDir, copy, { recursive: true });
    const copied = lockDataDir(copy);
    copied.release();
    rmSync(copy, { recursive: true });
    expect(copied.hostId).toBe(first.hostId);
    expect(copied.owner).not.toBe(first.owner);
  });

  it('rejects a second worker with advice', () => {
    const folder = lockDataDir(dataDir);
    expect(() => lockDataDir(dataDir)).toThrow(DataDirLockedError);
    expect(() => lockDataDir(dataDir)).toThrow(/its own folder/);
    folder.release();
    lockDataDir(dataDir).release();
  });

  it('is unlocked as soon as its worker is killed', async () => {
    const other = await startOther();
    expect(() => lockDataDir(dataDir)).toThrow(DataDirLockedError);
    other.kill('SIGKILL');
    await once(other, 'exit');
    lockDataDir(dataDir).release();
  });

  it('detects that its lock file was replaced', () => {
    const folder = lockDataDir(dataDir);
    expect(folder.isHeld()).toBe(true);
    rmSync(join(dataDir, 'lock'));
    expect(folder.isHeld()).toBe(false);
    const second = lockDataDir(dataDir);
    expect(folder.isHeld()).toBe(false);
    expect(second.isHeld()).toBe(true);
    second.release();
    folder.release();
  });

  it('reports that flock is not installed', () => {
    const { PATH } = process.env;
    process.env['PATH'] = '/nowhere';
    expect(() => lockDataDir(dataDir)).toThrow(/flock \(util-linux\)/);
    process.env['PATH'] = PATH;
  });
});

async function startOther() {
  const module = join(repository, 'worker/host/data-dir-lock.ts');
  const script = `import(${JSON.stringify(module)}).then(({ lockDataDir }) => {
    lockDataDir(${JSON.stringify(dataDir)});
    console.log('held');
    setInterval(() => {}, 1000);
  });`;
  const other = spawn(process.execPath, ['-e', script]);
  await once(other.stdout, 'data');
  return other;
}
