// The Docker Engine: that of DOCKER_HOST, the machine's, or our own, which all stacks of this
// machine share. Our own has its own data folder, and containers survive its end. It needs no
// bridge, because sandboxes have no network and builds use the host's. If another engine's bridge
// exists, ours uses it, because an engine without a bridge would delete it.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { installPackages } from '../../lib/apt.ts';
import { isRoot, rootFolder } from '../../lib/folders.ts';
import { unmountNamespaces } from '../../lib/namespaces.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { type DaemonFolders, reloadDaemon, startDaemon, stopDaemon } from '../daemon.ts';
import { hasRuntime, pingEngine, type RuntimeEntry } from '../engine-api.ts';
import { withFileLock } from '../lock.ts';

const name = 'docker';
const scheme = 'unix://';
const defaultSocket = '/var/run/docker.sock';
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** The path of the engine's socket. */
export function ensureEngine(externalHost?: string): Promise<string> {
  return step(name, async (progress) => {
    if (externalHost)
      return {
        value: await externalSocket(externalHost),
        summary: `set by DOCKER_HOST (${externalHost})`,
      };
    if (await pingEngine(defaultSocket))
      return { value: defaultSocket, summary: `running at ${defaultSocket}` };
    const home = engineFolder();
    if (await pingEngine(home.socket)) return { value: home.socket, summary: 'running, our own' };
    mkdirSync(home.root, { recursive: true });
    return withFileLock(home.lock, async () => {
      if (!(await pingEngine(home.socket))) await start(home, progress);
      return { value: home.socket, summary: 'started, our own' };
    });
  });
}

/** Stops our own engine. `inUse` is called under the lock that guards its start. */
export async function stopEngine(inUse: () => Promise<boolean>): Promise<boolean> {
  const home = engineFolder();
  if (!existsSync(home.root)) return false;
  return withFileLock(home.lock, async () => {
    if (await inUse()) return false;
    const hasStopped = await stopDaemon(home, name);
    await unmountNamespaces(home.root);
    return hasStopped;
  });
}

/** The sockets of all running engines that a stack may have used. */
export async function runningEngines(used: string | undefined): Promise<string[]> {
  const hosts = [used, process.env.DOCKER_HOST].flatMap((host) => host?.slice(scheme.length) ?? []);
  const known = [...new Set([...hosts, defaultSocket, engineFolder().socket])];
  const answers = await Promise.all(known.map(pingEngine));
  return known.filter((_, index) => answers[index]);
}

export function isOurEngine(socket: string): boolean {
  return socket === engineFolder().socket;
}

/** Adds a runtime to our own engine permanently. Running containers are not affected. */
export function ensureRuntime(runtime: string, entry: RuntimeEntry): Promise<void> {
  const home = engineFolder();
  return step('runtime', () =>
    withFileLock(home.lock, async () => {
      const runtimes = usableRuntimes(home.settings);
      const isConfigured = isDeepStrictEqual(runtimes[runtime], entry);
      if (isConfigured && (await hasRuntime(home.socket, runtime, entry))) {
        return { value: undefined, summary: `the engine has ${runtime}` };
      }
      const settings = settingsIn(home.settings);
      write(home.settings, { ...settings, runtimes: { ...runtimes, [runtime]: entry } });
      reloadDaemon(home, name);
      await waitUntilRegistered(home.socket, runtime, entry);
      return { value: undefined, summary: `${runtime} is added to the engine` };
    }),
  );
}

async function waitUntilRegistered(socket: string, runtime: string, entry: RuntimeEntry) {
  const deadline = Date.now() + 30_000;
  while (!(await hasRuntime(socket, runtime, entry))) {
    if (Date.now() > deadline) {
      throw new SetupError(
        `The engine at ${socket} does not register ${runtime}; see its docker.log.`,
      );
    }
    await sleep(100);
  }
}

function engineFolder() {
  const root = join(rootFolder(), name);
  const folders: DaemonFolders = { logs: root, pids: root };
  const [socket, settings] = [join(root, 'docker.sock'), join(root, 'daemon.json')];
  return { ...folders, root, socket, settings, lock: join(root, 'lock') };
}

interface EngineSettings {
  runtimes?: Record<string, RuntimeEntry>;
}

function settingsIn(file: string): EngineSettings {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as EngineSettings) : {}; // written below
}

function write(file: string, settings: EngineSettings): void {
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
}

/** The configured runtimes, except those whose program no longer exists: no sandbox would start. */
function usableRuntimes(file: string): Record<string, RuntimeEntry> {
  const entries = Object.entries(settingsIn(file).runtimes ?? {});
  return Object.fromEntries(entries.filter(([, { path }]) => existsSync(path)));
}

async function externalSocket(host: string): Promise<string> {
  const socket = host.slice(scheme.length);
  if (!host.startsWith(scheme)) {
    throw new SetupError(
      `DOCKER_HOST is ${host}. It must be a unix:// address, because sandboxes share folders with this machine.`,
    );
  }
  if (await pingEngine(socket)) return socket;
  throw new SetupError(`No Docker Engine answers at DOCKER_HOST (${host}).`);
}

async function start(home: ReturnType<typeof engineFolder>, progress: (doing: string) => void) {
  if (!isRoot) {
    throw new SetupError(
      `No Docker Engine answers at ${defaultSocket}, and only root may start one. ` +
        'Set DOCKER_HOST, or join the group docker.',
    );
  }
  if (findOnPath('dockerd', systemFolders) === undefined) {
    await installPackages(['docker.io'], progress);
    if (await pingEngine(defaultSocket)) return;
  }
  const bridge = existsSync('/sys/class/net/docker0') ? {} : { bridge: 'none' };
  const config = {
    'data-root': join(home.root, 'data'),
    'exec-root': join(home.root, 'exec'),
    hosts: [`${scheme}${home.socket}`],
    'live-restore': true,
    iptables: false,
    runtimes: usableRuntimes(home.settings),
    ...bridge,
  };
  write(home.settings, config);
  await stopDaemon(home, name);
  const pidFile = join(home.root, 'dockerd.pid');
  rmSync(pidFile, { force: true });
  await startDaemon(home, {
    name,
    command: findOnPath('dockerd', systemFolders) ?? 'dockerd',
    args: ['--config-file', home.settings, '--pidfile', pidFile],
    ready: () => pingEngine(home.socket),
  });
}
