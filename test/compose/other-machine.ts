// A second machine: its own network namespace, connected only to that of the first one, and its own
// engine. It ends with the first machine.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../../dev/lib/run-command.ts';
import { pingEngine } from '../../dev/stack/engine-api.ts';
import { makeFreshClone } from '../../dev/test-runner/compose/fresh-clone.ts';
import { clone, type docker, until } from './compose.ts';
import type { Answers, Caller } from './knock.ts';

export const firstAddress = '10.77.0.1';
export const otherAddress = '10.77.0.2';

const network = 'other';
const home = join(clone, '../other-machine');
const runHome = `/run/${network}`;
const socket = `${runHome}/docker.sock`;

export interface OtherMachine {
  /** A clone like the first machine's. */
  folder: string;
  socket: string;
  docker(...args: string[]): Promise<string>;
  /** The answers of the first machine's ingress to a client on this machine. */
  tryIngress(caller: Caller): Promise<Answers>;
  stop(): Promise<void>;
}

export async function startOtherMachine(): Promise<OtherMachine> {
  await layCable();
  const engine = startEngine();
  await until('the other engine answers', () => pingEngine(socket));
  const folder = await makeFreshClone(join(home, 'clone'));
  const here = { cwd: folder, env: { ...process.env, DOCKER_HOST: `unix://${socket}` } };
  const machine: OtherMachine = {
    folder,
    socket,
    docker: (...args) => runCommand('docker', args, here),
    tryIngress,
    stop: () => stop(machine, engine),
  };
  await forgetContainers(machine);
  return machine;
}

/** Copies images that were built on the first machine. */
export async function carryImages(...images: string[]): Promise<void> {
  const load = `docker --host unix://${socket} load`;
  await runCommand('sh', ['-ec', `docker save ${images.join(' ')} | ${load}`]);
}

async function layCable(): Promise<void> {
  const commands = [
    `netns add ${network}`,
    `link add to-other type veth peer name to-first netns ${network}`,
    `addr add ${firstAddress}/24 dev to-other`,
    'link set to-other up',
    `-n ${network} addr add ${otherAddress}/24 dev to-first`,
    `-n ${network} link set to-first up`,
    `-n ${network} link set lo up`,
  ];
  for (const command of commands) await runCommand('ip', command.split(' '));
}

function startEngine(): ChildProcess {
  mkdirSync(home, { recursive: true });
  rmSync(runHome, { recursive: true, force: true });
  mkdirSync(runHome);
  const settings = join(home, 'docker.json');
  const expected = {
    'data-root': join(home, 'docker'),
    'exec-root': join(runHome, 'exec'),
    pidfile: join(runHome, 'dockerd.pid'),
    hosts: [`unix://${socket}`],
  };
  writeFileSync(settings, `${JSON.stringify(expected, null, 2)}\n`);
  const log = openSync(join(home, 'docker.log'), 'w');
  const line = ['dockerd', '--config-file', settings];
  return spawn('nsenter', within(line), { stdio: ['ignore', log, log] });
}

async function tryIngress(caller: Caller): Promise<Answers> {
  return JSON.parse(await runCommand('nsenter', within(probeCommand(caller)))) as Answers; // as it is printed there
}

/** The same from the first machine. */
export async function tryIngressFromFirst(caller: Caller): Promise<Answers> {
  const [command, ...args] = probeCommand(caller);
  return JSON.parse(await runCommand(command, args)) as Answers; // as it is printed there
}

function probeCommand(caller: Caller): [string, ...string[]] {
  const program = join(import.meta.dirname, 'knock.ts');
  return [process.execPath, program, JSON.stringify(caller)];
}

const within = (line: string[]): string[] => [`--net=/run/netns/${network}`, '--', ...line];

/** Removes leftovers of an earlier run, except tagged images. */
async function forgetContainers(machine: OtherMachine): Promise<void> {
  const containers = (await machine.docker('ps', '-aq')).split('\n').filter(Boolean);
  if (containers.length > 0) await machine.docker('rm', '--force', '--volumes', ...containers);
  const volumes = (await machine.docker('volume', 'ls', '-q')).split('\n').filter(Boolean);
  if (volumes.length > 0) await machine.docker('volume', 'rm', ...volumes);
  await machine.docker('image', 'prune', '--force');
}

async function stop(machine: OtherMachine, engine: ChildProcess): Promise<void> {
  await forgetContainers(machine);
  const ended = once(engine, 'exit');
  engine.kill('SIGTERM');
  await ended;
  await runCommand('ip', ['link', 'delete', 'to-other']);
  await runCommand('ip', ['netns', 'delete', network]);
}

/** Filters for the containers of an engine. */
export const sandboxIds = async (on: typeof docker): Promise<string[]> =>
  (await on('ps', '-q', '--filter', 'label=frs.instance')).split('\n').filter(Boolean);
