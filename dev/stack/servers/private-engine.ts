// A separate Docker Engine, which tests may kill, freeze or configure: in its own network
// namespace, with its own files and socket. Its images stay, so that each is copied only once.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheFolder, isRoot } from '../../lib/folders.ts';
import { step } from '../../lib/progress.ts';
import { findOnPath } from '../../lib/run-command.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { type DaemonFolders, reloadDaemon, startDaemon, stopDaemon } from '../daemon.ts';
import { callEngineStream, hasImage, pingEngine, type RuntimeEntry } from '../engine-api.ts';
import { pruneImages } from './prune-images.ts';

const name = 'docker';
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

interface PrivateEngineOptions {
  liveRestore: boolean;
  runtimes?: Record<string, RuntimeEntry>;
  /** The folder of its files, by default in the cache. */
  root?: string;
}

/** Restarts it with the containers it had. Returns the path of its socket. */
export function ensurePrivateEngine(options: PrivateEngineOptions): Promise<string> {
  return step('private engine', async () => {
    if (!isRoot) throw new SetupError('Only root may start a separate Docker Engine.');
    const home = engineHome(options.root);
    mkdirSync(home.root, { recursive: true });
    await stopDaemon(home, name);
    const settings = writeSettings(home, options);
    const pidFile = join(home.root, 'dockerd.pid');
    rmSync(pidFile, { force: true });
    const dockerd = findOnPath('dockerd', systemFolders) ?? 'dockerd';
    await startDaemon(home, {
      name,
      command: 'unshare',
      args: ['--net', '--', dockerd, '--config-file', settings, '--pidfile', pidFile],
      ready: () => pingEngine(home.socket),
    });
    return { value: home.socket, summary: `live-restore ${options.liveRestore ? 'on' : 'off'}` };
  });
}

/** Changes the configuration of a running engine, as an operator would. */
export function reloadPrivateEngine(options: PrivateEngineOptions): void {
  const home = engineHome(options.root);
  writeSettings(home, options);
  reloadDaemon(home, name);
}

/** SIGTERM stops the engine in order; SIGKILL simulates a crash. */
export async function stopPrivateEngine(
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
  root?: string,
): Promise<boolean> {
  const home = engineHome(root);
  const ended = await stopDaemon(home, name, { signal });
  await waitForContainerdExit(join(home.root, 'exec/containerd/containerd.pid'));
  return ended;
}

/**
 * containerd ends a moment after its engine. If its pid file remained and another process got the
 * id, the next engine would mistake that process for containerd and wait for it.
 */
async function waitForContainerdExit(pidFile: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline && existsSync(`/proc/${readText(pidFile).trim()}/exe`)) {
    await sleep(100);
  }
  const commandLine = readText(`/proc/${readText(pidFile).trim()}/cmdline`);
  if (!commandLine.startsWith('containerd')) rmSync(pidFile, { force: true });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Copies an image from another engine, unless it exists. */
export function copyImage(from: string, tag: string, root?: string): Promise<void> {
  return step('private image', async () => {
    const { socket } = engineHome(root);
    if (await hasImage(socket, tag)) return { value: undefined, summary: `${tag} exists` };
    const body = await readImage(from, tag);
    const contentType = 'application/x-tar';
    await callEngineStream(socket, { method: 'POST', path: '/images/load', contentType, body });
    await pruneImages(socket, tag.slice(0, tag.lastIndexOf(':')));
    return { value: undefined, summary: `${tag} copied` };
  });
}

/** Returns the path of its configuration. */
function writeSettings(home: ReturnType<typeof engineHome>, options: PrivateEngineOptions): string {
  const { liveRestore, runtimes = {} } = options;
  const file = join(home.root, 'daemon.json');
  const settings = {
    'data-root': join(home.root, 'data'),
    'exec-root': join(home.root, 'exec'),
    hosts: [`unix://${home.socket}`],
    'live-restore': liveRestore,
    iptables: false,
    bridge: 'none',
    runtimes,
  };
  writeFileSync(file, `${JSON.stringify(settings, null, 2)}\n`);
  return file;
}

function engineHome(root = join(cacheFolder(), 'private-engine')) {
  const folders: DaemonFolders = { logs: root, pids: root };
  return { ...folders, root, socket: join(root, 'docker.sock') };
}

function readImage(socketPath: string, tag: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    const path = `/images/${encodeURIComponent(tag)}/get`;
    request({ socketPath, path }, (answer) => {
      if (answer.statusCode === 200) resolve(answer);
      else reject(new Error(`${tag} cannot be read: ${answer.statusCode}`));
    })
      .on('error', reject)
      .end();
  });
}
