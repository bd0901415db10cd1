// The Docker Engine: a given or living one, else one of our own, which all stacks of this machine
// share. It needs no bridge (sandboxes have no network, builds use the host's), keeps its files in a
// folder of its own and leaves containers alone when it ends. Where a bridge of another engine
// exists it is kept: an engine without a bridge would delete it.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from '../apt.ts';
import { startBackground, stopBackground, type Where } from '../background.ts';
import { pingEngine } from '../engine-api.ts';
import { CannotGoOn } from '../failure.ts';
import { isRoot, rootFolder } from '../folders.ts';
import { alone } from '../lock.ts';
import { step } from '../progress.ts';
import { findOnPath } from '../run.ts';

const name = 'docker';
const scheme = 'unix://';
const usualSocket = '/var/run/docker.sock';
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The path of the engine's socket. */
export function ensureEngine(given?: string): Promise<string> {
  return step(name, async (now) => {
    if (given) return { value: await givenSocket(given), said: `given by DOCKER_HOST (${given})` };
    if (await pingEngine(usualSocket)) return { value: usualSocket, said: `living ${usualSocket}` };
    const home = engineFolder();
    if (await pingEngine(home.socket)) return { value: home.socket, said: 'running, our own' };
    mkdirSync(home.root, { recursive: true });
    return alone(home.lock, async () => {
      if (!(await pingEngine(home.socket))) await start(home, now);
      return { value: home.socket, said: 'started, our own' };
    });
  });
}

/** Ends our own engine; `inUse` is asked under the lock under which stacks start it. */
export async function stopEngine(inUse: () => Promise<boolean>): Promise<boolean> {
  const home = engineFolder();
  if (!existsSync(home.root)) return false;
  return alone(home.lock, async () => !(await inUse()) && stopBackground(home, name));
}

/** The sockets of all engines that a stack may have used and that answer now. */
export async function livingEngines(used: string | undefined): Promise<string[]> {
  const hosts = [used, process.env.DOCKER_HOST].flatMap((host) => host?.slice(scheme.length) ?? []);
  const known = [...new Set([...hosts, usualSocket, engineFolder().socket])];
  const answers = await Promise.all(known.map(pingEngine));
  return known.filter((_, index) => answers[index]);
}

export function isOurEngine(socket: string): boolean {
  return socket === engineFolder().socket;
}

function engineFolder() {
  const root = join(rootFolder(), name);
  const folders: Where = { logs: root, pids: root };
  return { ...folders, root, socket: join(root, 'docker.sock'), lock: join(root, 'lock') };
}

async function givenSocket(host: string): Promise<string> {
  const socket = host.slice(scheme.length);
  if (!host.startsWith(scheme)) {
    throw new CannotGoOn(
      `DOCKER_HOST is ${host}. Sandboxes share folders with this machine, so it must be unix://…`,
    );
  }
  if (await pingEngine(socket)) return socket;
  throw new CannotGoOn(`No Docker Engine answers at DOCKER_HOST (${host}).`);
}

async function start(home: ReturnType<typeof engineFolder>, now: (doing: string) => void) {
  if (!isRoot) {
    throw new CannotGoOn(
      `No Docker Engine answers at ${usualSocket}, and only root may start one. ` +
        'Set DOCKER_HOST, or ask for the group docker.',
    );
  }
  if (findOnPath('dockerd', systemFolders) === undefined) {
    await installPackages(['docker.io'], now);
    if (await pingEngine(usualSocket)) return;
  }
  const settings = join(home.root, 'daemon.json');
  const bridge = existsSync('/sys/class/net/docker0') ? {} : { bridge: 'none' };
  const wanted = {
    'data-root': join(home.root, 'data'),
    'exec-root': join(home.root, 'exec'),
    hosts: [`${scheme}${home.socket}`],
    'live-restore': true,
    iptables: false,
    ...bridge,
  };
  writeFileSync(settings, `${JSON.stringify(wanted, null, 2)}\n`);
  await stopBackground(home, name);
  const pidFile = join(home.root, 'dockerd.pid');
  rmSync(pidFile, { force: true });
  await startBackground(home, {
    name,
    command: findOnPath('dockerd', systemFolders) ?? 'dockerd',
    args: ['--config-file', settings, '--pidfile', pidFile],
    ready: () => pingEngine(home.socket),
  });
}
