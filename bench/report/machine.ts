import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { repository } from '../../dev/lib/folders.ts';
import { runCommand } from '../../dev/lib/run-command.ts';
import { callEngine } from '../../dev/stack/engine-api.ts';
import { findTemporal } from '../../dev/stack/servers/temporal-binary.ts';
import { createPool } from '../../systems/postgres/client/pool.ts';
import { connectRedis } from '../../systems/redis/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** The machine of a measurement. Figures of different machines must not be compared. */
type Machine = Record<string, string | number>;

export async function describeMachine(): Promise<Machine> {
  const processors = cpus();
  return {
    processors: `${processors.length} × ${processors[0]?.model ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.versions.node,
    commit: await firstLineOf('git', ['rev-parse', '--short', 'HEAD']),
    agent: agentVersion(),
    ...(await describeEngine()),
    ...(await describePostgres()),
    redis: await redisVersion(),
    temporal: await temporalVersion(),
    temporalStore: 'dev server, SQLite file',
  };
}

async function describeEngine(): Promise<Machine> {
  const socket = stackEnv.dockerHost.replace(/^unix:\/\//, '');
  const { text } = await callEngine(socket, { path: '/info' });
  const info = JSON.parse(text) as EngineInfo; // documented by the engine
  return {
    docker: info.ServerVersion,
    runc: info.RuncCommit.ID.slice(0, 12),
    storage: info.Driver,
    cgroup: `v${info.CgroupVersion ?? '1'}, ${info.CgroupDriver}`,
    network: 'none',
    logDriver: 'none',
  };
}

interface EngineInfo {
  ServerVersion: string;
  RuncCommit: { ID: string };
  Driver: string;
  CgroupVersion?: string;
  CgroupDriver: string;
}

async function describePostgres(): Promise<Machine> {
  const pool = createPool(stackEnv.postgresUrl, { applicationName: 'bench', max: 1 });
  const setting = async (name: string): Promise<string> => {
    const { rows } = await pool.query<{ value: string }>('select current_setting($1) as value', [
      name,
    ]);
    return rows[0]?.value ?? 'unknown';
  };
  const postgres = await setting('server_version');
  const commits = `${await setting('synchronous_commit')}, fsync ${await setting('fsync')}`;
  await pool.end();
  return { postgres, synchronousCommit: commits };
}

async function redisVersion(): Promise<string> {
  const redis = connectRedis({ url: stackEnv.redisUrl, name: 'bench', onError: () => undefined });
  await new Promise<void>((resolve) => redis.once('ready', () => resolve()));
  const info = await redis.info('server');
  redis.disconnect();
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}

async function temporalVersion(): Promise<string> {
  return firstLineOf(await findTemporal(() => undefined), ['--version']);
}

async function firstLineOf(command: string, args: string[]): Promise<string> {
  const text = await runCommand(command, args, { cwd: repository }).catch(() => 'unknown');
  return text.trim().split('\n')[0] ?? 'unknown';
}

function agentVersion(): string {
  const file = readFileSync(join(repository, 'sandbox/package.json'), 'utf8');
  const { dependencies } = JSON.parse(file) as { dependencies?: Record<string, string> };
  return dependencies?.['@anthropic-ai/claude-code'] ?? 'unknown';
}
