import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../dev/lib/run-command.ts';
import { type ApiClient, createApiClient } from '../support/api-client.ts';

const { COMPOSE_CLONE = '', COMPOSE_AUTHORITY = '' } = process.env;

/** The clone, and the authority whose certificate this machine has. */
export const clone = COMPOSE_CLONE;
export const authority = COMPOSE_AUTHORITY;
export const caFile = join(authority, 'ca.crt');
export const url = 'http://127.0.0.1:8080';

export function docker(...args: string[]): Promise<string> {
  return runCommand('docker', args, { cwd: clone });
}

export function compose(...args: string[]): Promise<string> {
  return docker('compose', ...args);
}

/** Files that a self-hoster puts into the clone, and that an earlier test file may have left. */
export function asCloned(): void {
  for (const put of ['.env', 'docker-compose.override.yml', 'backups']) {
    rmSync(join(clone, put), { recursive: true, force: true });
  }
}

export function set(settings: Record<string, string>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(clone, '.env'), lines.join(''));
}

/** An override that lets the worker reach a receiver on this machine. */
export const receiverReachable = `services:
  worker:
    environment: { WEBHOOK_CA_FILE: /authority/ca.crt }
    volumes: ["${authority}:/authority:ro"]
    extra_hosts: ["host.docker.internal:host-gateway"]
`;

interface Part {
  Service: string;
  State: string;
  Health: string;
  ExitCode: number;
}

/** Every container of the project, also those that have ended. */
export async function parts(): Promise<Record<string, Part>> {
  const lines = (await compose('ps', '--all', '--format', 'json')).trim().split('\n');
  const found = lines.map((line) => JSON.parse(line) as Part); // compose's own documented shape
  return Object.fromEntries(found.map((part) => [part.Service, part]));
}

interface Inspected {
  Id: string;
  State: { Pid: number; Running: boolean; StartedAt: string };
  Config: { User: string; Env: string[]; Labels: Record<string, string> };
  HostConfig: {
    RestartPolicy: { Name: string };
    PortBindings: Record<string, { HostIp: string; HostPort: string }[]> | null;
    ReadonlyRootfs: boolean;
    CapDrop: string[] | null;
    CapAdd: string[] | null;
    NetworkMode: string;
    Runtime: string;
  };
  Mounts: { Type: string; Name?: string; Source: string; Destination: string; RW: boolean }[];
}

async function inspect(name: string): Promise<Inspected> {
  const [found] = JSON.parse(await docker('inspect', name)) as Inspected[]; // the engine's own shape
  if (found === undefined) throw new Error(`no container ${name}`);
  return found;
}

export const part = (service: string): Promise<Inspected> => inspect(`flowrun-${service}-1`);

/** The containers of the agent. */
export async function sandboxes(): Promise<Inspected[]> {
  const ids = (await docker('ps', '-q', '--filter', 'label=frs.instance')).trim();
  return Promise.all(ids === '' ? [] : ids.split('\n').map(inspect));
}

/** One command of the command line, in the container that has the database's address. */
export async function flowrun(...args: string[]): Promise<Record<string, string>> {
  const output = await compose('exec', '-T', 'api', 'flowrun', ...args, '--json');
  return JSON.parse(output) as Record<string, string>; // one record, as --json promises
}

/** The command line beside Postgres' own programs. */
export const withBackup = (...args: string[]): Promise<string> =>
  compose('run', '--rm', '-T', 'backup', ...args);

/** No process removes sandboxes once the worker is gone, and each sandbox uses a volume. */
export async function loseEverything(): Promise<void> {
  await compose('stop');
  const left = (await docker('ps', '-aq', '--filter', 'label=frs.instance')).trim();
  if (left !== '') await docker('rm', '--force', ...left.split('\n'));
  await compose('--profile', '*', 'down', '--volumes');
}

export interface Access extends ApiClient {
  projectId: string;
  flowId: string;
  key: string;
}

export async function makeAccess(projectId: string): Promise<Access> {
  await flowrun('project', 'create', projectId, '--name', projectId);
  const { flowId = '' } = await flowrun('flow', 'create', '--project', projectId, '--name', 'one');
  const named = ['--project', projectId, '--name', 'test'];
  const { key = '' } = await flowrun('key', 'create', ...named, '--rpm', '6000');
  return { projectId, flowId, key, ...createApiClient({ url, key, flowId }) };
}

/** Works long enough for something to happen meanwhile. */
export const slowly = (seconds: number, file: string): string =>
  `@model ${JSON.stringify([
    {
      tool: 'Bash',
      input: { command: `for i in $(seq ${seconds}); do sleep 1; done; touch ${file}` },
    },
    { text: `Written: ${file}` },
  ])}`;

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 180_000;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(250);
  }
}

/** While nothing listens behind a published port yet, a request may never be answered. */
export const untilReady = (): Promise<void> =>
  until('the API is ready', async () => {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await answer.text();
    return answer.ok;
  });
