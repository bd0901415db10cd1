import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { repository } from '../../dev/lib/folders.ts';
import { runCommand } from '../../dev/lib/run-command.ts';
import { callEngine } from '../../dev/stack/engine-api.ts';
import { stackEnv } from '../../test/support/stack-env.ts';
import { durabilitySettings, requireDurability } from './durability.ts';

/**
 * Where a measurement was made, as the servers themselves report it. Figures of different
 * environments must not be compared.
 */
export type Environment = Record<string, string | number>;

export async function readEnvironment(): Promise<Environment> {
  const processors = cpus();
  return {
    cores: processors.length,
    cpu: processors[0]?.model ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.versions.node,
    commit: await commit(),
    agent: agentVersion(),
    runtime: stackEnv.sandboxRuntime,
    ...(await readEngine()),
    ...(await readPostgres()),
    redis: await redisVersion(),
    ...(await readTemporal()),
  };
}

/** One line for the screen and for the report. */
export function describeEnvironment(environment: Environment): string {
  return Object.entries(environment)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');
}

async function commit(): Promise<string> {
  const git = (...args: string[]) => runCommand('git', args, { cwd: repository });
  const [head, changed] = await Promise.all([
    git('rev-parse', '--short', 'HEAD'),
    git('status', '--porcelain', '--untracked-files=no'),
  ]);
  return changed.trim() === '' ? head.trim() : `${head.trim()}+changes`;
}

function agentVersion(): string {
  const file = readFileSync(join(repository, 'sandbox/package.json'), 'utf8');
  const { dependencies } = JSON.parse(file) as { dependencies?: Record<string, string> }; // npm's own format
  return dependencies?.['@anthropic-ai/claude-code'] ?? 'unknown';
}

interface EngineInfo {
  Driver: string;
  CgroupVersion?: string;
  CgroupDriver: string;
  Runtimes?: Record<string, { path?: string }>;
}

interface EngineVersion {
  Version: string;
  Components?: { Name: string; Version: string }[];
}

async function readEngine(): Promise<Environment> {
  const socket = stackEnv.dockerHost.replace(/^unix:\/\//, '');
  const read = async (path: string) => (await callEngine(socket, { path })).text;
  const info = JSON.parse(await read('/info')) as EngineInfo; // documented by the engine
  const { Version: docker, Components: components = [] } = JSON.parse(
    await read('/version'),
  ) as EngineVersion; // documented by the engine
  const versionOf = (name: string): string =>
    components.find(({ Name }) => Name === name)?.Version ?? 'unknown';
  return {
    docker,
    containerd: versionOf('containerd'),
    ...(stackEnv.sandboxRuntime === 'runsc'
      ? { runsc: await gvisorVersion(info.Runtimes?.['runsc']?.path ?? 'runsc') }
      : { runc: versionOf('runc') }),
    storageDriver: info.Driver,
    cgroup: `v${info.CgroupVersion ?? '1'} ${info.CgroupDriver}`,
  };
}

async function gvisorVersion(program: string): Promise<string> {
  const text = await runCommand(program, ['--version']);
  return /version (\S+)/.exec(text)?.[1] ?? 'unknown';
}

/** Throws if the server does not write every commit to its disk: all ratios would look better. */
async function readPostgres(): Promise<Environment> {
  const client = new Client({ connectionString: stackEnv.postgresUrl });
  await client.connect();
  const show = async (name: string): Promise<string> => {
    const { rows } = await client.query<Record<string, string>>(`show ${name}`);
    return rows[0]?.[name] ?? 'unknown';
  };
  const settings: Record<string, string> = {};
  for (const name of durabilitySettings) settings[name] = await show(name);
  const postgres = (await show('server_version')).split(' ')[0] ?? 'unknown';
  await client.end();
  requireDurability(settings);
  return { postgres, ...settings };
}

async function redisVersion(): Promise<string> {
  const redis = new Redis(stackEnv.redisUrl);
  const info = await redis.info('server');
  redis.disconnect();
  return /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
}

async function readTemporal(): Promise<Environment> {
  const connection = await Connection.connect({ address: stackEnv.temporalAddress });
  const cluster = await connection.workflowService.getClusterInfo({});
  await connection.close();
  return {
    temporal: cluster.serverVersion ?? 'unknown',
    temporalStore: cluster.persistenceStore ?? 'unknown',
  };
}
