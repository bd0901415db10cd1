// Where the file system of the data folder enforces project quotas, the kernel limits what a
// sandbox can write, however fast it writes and even into deleted files. The limit is a little
// above the limits that the watchdogs enforce. So a sandbox that reaches it has exceeded one of
// those, and is ended.

import { execFile } from 'node:child_process';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { ProjectQuotaState } from '../../../core/hosts/host-health.ts';
import type { SandboxFolders } from '../../sandbox/sandbox-paths.ts';
import type { DiskUsage } from '../../sandbox/workspace/disk-usage.ts';

/** What the files of a sandbox use, and the limits of the kernel. */
export interface QuotaUsage extends DiskUsage {
  maxBytes: number;
  maxInodes: number;
}

export interface ProjectQuotas {
  /** A file system is mounted with or without quotas, so this is determined once. */
  state(): Promise<ProjectQuotaState>;
  /** Limits the folders that a sandbox can write to, while they are empty. Safe to repeat. */
  assign(folders: SandboxFolders, bounds: WrittenBounds): Promise<void>;
  /** Null if these folders have no quota. */
  usage(folders: Pick<SandboxFolders, 'spool'>): Promise<QuotaUsage | null>;
  /** Removes the limits before the folder is removed, so that none remain. Safe to repeat. */
  release(root: string): Promise<void>;
}

interface WrittenBounds {
  spoolBytes: number;
  workspaceBytes: number;
  workspaceInodes: number;
}

/** Above the limits of the watchdogs. A quota counts as used up when half of this is left. */
const marginBytes = 16 * 1024 ** 2;
const marginInodes = 100;

export function createProjectQuotas({
  dataDir,
  logger,
}: {
  dataDir: string;
  logger: Pick<Logger, 'warn'>;
}): ProjectQuotas {
  let found: Promise<ProjectQuotaState> | null = null;
  const state = (): Promise<ProjectQuotaState> => (found ??= readState(dataDir, logger));
  const isEnforced = async (): Promise<boolean> => (await state()) === 'enforced';
  return {
    state,
    async assign({ root, spool, workspace, config }, bounds) {
      if (!(await isEnforced())) return;
      const { bytes, inodes } = quotaFor(bounds);
      const names = [spool, workspace, config].map((folder) => relative(root, folder));
      await run('assign', String(bytes), String(inodes), root, ...names);
    },
    async usage({ spool }) {
      if (!(await isEnforced())) return null;
      return parseUsage(await run('usage', spool));
    },
    async release(root) {
      if (await isEnforced()) await run('release', join(root, 'spool'));
    },
  };
}

export function quotaFor({ spoolBytes, workspaceBytes, workspaceInodes }: WrittenBounds) {
  return {
    bytes: spoolBytes + workspaceBytes + marginBytes,
    inodes: workspaceInodes + marginInodes,
  };
}

export function parseUsage(line: string): QuotaUsage | null {
  if (line === '') return null;
  const [bytes = 0, inodes = 0, maxBytes = 0, maxInodes = 0] = line.split(' ').map(Number);
  return { bytes, inodes, maxBytes, maxInodes };
}

/** Without limits, the folder is about to be removed. */
export const isUsedUp = {
  bytes: ({ bytes, maxBytes }: QuotaUsage): boolean =>
    maxBytes > 0 && bytes > maxBytes - marginBytes / 2,
  inodes: ({ inodes, maxInodes }: QuotaUsage): boolean =>
    maxInodes > 0 && inodes > maxInodes - marginInodes / 2,
};

async function readState(
  dataDir: string,
  logger: Pick<Logger, 'warn'>,
): Promise<ProjectQuotaState> {
  try {
    const state = await run('state', dataDir);
    if (state === 'enforced' || state === 'denied') return state;
    return 'off';
  } catch (err) {
    logger.warn({ err }, 'project_quotas_unknown');
    return 'unknown';
  }
}

const program = join(import.meta.dirname, 'project-quota.pl');

async function run(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('perl', [program, ...args], { timeout: 30_000 });
  return stdout.trimEnd();
}
