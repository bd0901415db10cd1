// Small file systems, and the folders of sandboxes on them as the worker makes them.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { sandboxPaths } from '../../core/sandbox/sandbox-config.ts';
import { createProjectQuotas, type QuotaUsage } from '../../worker/host/quota/project-quotas.ts';
import {
  foldersOf,
  makeFolders,
  removeTree,
  type SandboxFolders,
} from '../../worker/sandbox/sandbox-paths.ts';

export const miB = 1024 ** 2;

export interface Disk {
  type: 'ext4' | 'xfs';
  device: string;
  folder: string;
  /** What a sandbox may write. Two of them fit on the disk. */
  shareBytes: number;
}

const makers = {
  ext4: ['mkfs.ext4', '-q', '-F', '-O', 'quota,project', '-E', 'quotatype=prjquota'],
  xfs: ['mkfs.xfs', '-q', '-f'],
};

export function make({ type, device }: Disk): void {
  const [program = '', ...flags] = makers[type];
  execFileSync(program, [...flags, device]);
}

export function mount({ type, device, folder }: Disk, options: string): void {
  mkdirSync(folder, { recursive: true });
  execFileSync('mount', ['-t', type, '-o', options, device, folder]);
}

export const unmount = ({ folder }: Disk): void => void execFileSync('umount', [folder]);

/** The sandboxes of one worker process. */
export function createSandboxDisk({ folder: dataDir, shareBytes }: Disk) {
  const logger = {
    warn: (...line: unknown[]) => process.stderr.write(`${line.map(String).join(' ')}\n`),
  };
  const quotas = createProjectQuotas({ dataDir, logger });
  const bounds = { spoolBytes: miB, workspaceBytes: shareBytes - miB, workspaceInodes: 300 };
  const paths = (): SandboxFolders => foldersOf(dataDir, { runId: randomUUID(), generation: 1 });
  async function makeAll(folders: SandboxFolders): Promise<SandboxFolders> {
    await makeFolders(folders, () => quotas.assign(folders, bounds));
    return folders;
  }
  return {
    quotas,
    paths,
    make: makeAll,
    add: () => makeAll(paths()),
    async remove({ root }: SandboxFolders) {
      await quotas.release(root);
      await removeTree(root);
    },
    /** Writes all that a sandbox may write. */
    wholeShare: `head -c ${shareBytes} /dev/zero > share && sync share`,
  };
}

/** Without rights of root, which exceed quotas. */
export function writeAsAgent({ workspace }: SandboxFolders, script: string) {
  const { uid, gid } = sandboxPaths;
  return spawnSync('bash', ['-c', script], { cwd: workspace, uid, gid, encoding: 'utf8' });
}

/** Returns when the script is done. Its files then stay open until `end`. */
export async function holdAsAgent({ workspace }: SandboxFolders, script: string) {
  const { uid, gid } = sandboxPaths;
  const whole = `${script}; echo DONE >&2; exec sleep 600`;
  const child = spawn('bash', ['-c', whole], { cwd: workspace, uid, gid, stdio: 'pipe' });
  const ended = once(child, 'close');
  let stderr = '';
  for await (const chunk of child.stderr.setEncoding('utf8')) {
    stderr += String(chunk);
    if (stderr.includes('DONE')) break;
  }
  async function end(): Promise<void> {
    child.kill('SIGKILL');
    await ended;
  }
  return { stderr, end };
}

/** Of a sandbox's folder, as another program reads it. */
export function ids({ spool }: Pick<SandboxFolders, 'spool'>): number[] {
  const line = execFileSync('lsattr', ['-p', '-d', spool], { encoding: 'utf8' });
  return [Number.parseInt(line, 10)];
}

/** Those with files or limits, except 0, which is that of all other files. */
export function recordedIds({ folder }: Disk): number[] {
  const report = execFileSync('repquota', ['-P', '-n', '-v', folder], { encoding: 'utf8' });
  const used = [...report.matchAll(/^#(\d+) .*\b[1-9]/gm)].map(([, id]) => Number(id));
  return used.filter((id) => id !== 0).sort();
}

export function quotaOf(usage: QuotaUsage | null): QuotaUsage {
  if (usage === null) throw new Error('these folders have no quota');
  return usage;
}
