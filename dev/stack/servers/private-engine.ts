// A Docker Engine that may be killed and frozen, or given what no other is to have: in a network
// namespace of its own, with files and a socket of its own. Its images are kept, so that they are
// copied into it once.

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

export interface PrivateEngineOptions {
  liveRestore: boolean;
  runtimes?: Record<string, RuntimeEntry>;
  /** Where its files lie, if not in the cache. */
  root?: string;
}

/** The path of its socket. It is started again in the same place, with the containers it had. */
export function ensurePrivateEngine(wish: PrivateEngineOptions): Promise<string> {
  return step('private engine', async () => {
    if (!isRoot) throw new SetupError('Only root may start a Docker Engine of its own.');
    const home = engineHome(wish.root);
    mkdirSync(home.root, { recursive: true });
    await stopDaemon(home, name);
    const settings = writeSettings(home, wish);
    const pidFile = join(home.root, 'dockerd.pid');
    rmSync(pidFile, { force: true });
    const dockerd = findOnPath('dockerd', systemFolders) ?? 'dockerd';
    await startDaemon(home, {
      name,
      command: 'unshare',
      args: ['--net', '--', dockerd, '--config-file', settings, '--pidfile', pidFile],
      ready: () => pingEngine(home.socket),
    });
    return { value: home.socket, summary: `live-restore ${wish.liveRestore ? 'on' : 'off'}` };
  });
}

/** As an operator does it who changes the configuration: what runs goes on. */
export function reloadPrivateEngine(wish: PrivateEngineOptions): void {
  const home = engineHome(wish.root);
  writeSettings(home, wish);
  reloadDaemon(home, name);
}

/** SIGTERM ends the engine in order; SIGKILL is what a crash is. */
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
 * containerd dies with its engine, a moment later, and its id may be somebody else's by then. An
 * engine that is started meanwhile takes it for a living one and waits for it in vain.
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

/** Copies an image from another engine, unless it is there already. */
export function copyImage(from: string, tag: string, root?: string): Promise<void> {
  return step('private image', async () => {
    const { socket } = engineHome(root);
    if (await hasImage(socket, tag)) return { value: undefined, summary: `${tag} is there` };
    const body = await readImage(from, tag);
    const contentType = 'application/x-tar';
    await callEngineStream(socket, { method: 'POST', path: '/images/load', contentType, body });
    await pruneImages(socket, tag.slice(0, tag.lastIndexOf(':')));
    return { value: undefined, summary: `${tag} copied` };
  });
}

/** The path of its configuration. */
function writeSettings(home: ReturnType<typeof engineHome>, wish: PrivateEngineOptions): string {
  const { liveRestore, runtimes = {} } = wish;
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
