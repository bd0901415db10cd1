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
import { CannotGoOn } from '../../lib/setup-error.ts';
import { reloadBackground, startBackground, stopBackground, type Where } from '../daemon.ts';
import { hasImage, pingEngine, type RuntimeEntry, workEngine } from '../engine-api.ts';
import { pruneImages } from './prune-images.ts';

const name = 'docker';
const systemFolders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export interface PrivateEngineWish {
  liveRestore: boolean;
  runtimes?: Record<string, RuntimeEntry>;
  /** Where its files lie, if not in the cache. */
  root?: string;
}

/** The path of its socket. It is started again in the same place, with the containers it had. */
export function ensurePrivateEngine(wish: PrivateEngineWish): Promise<string> {
  return step('private engine', async () => {
    if (!isRoot) throw new CannotGoOn('Only root may start a Docker Engine of its own.');
    const home = engineHome(wish.root);
    mkdirSync(home.root, { recursive: true });
    await stopBackground(home, name);
    const settings = writeSettings(home, wish);
    const pidFile = join(home.root, 'dockerd.pid');
    rmSync(pidFile, { force: true });
    const dockerd = findOnPath('dockerd', systemFolders) ?? 'dockerd';
    await startBackground(home, {
      name,
      command: 'unshare',
      args: ['--net', '--', dockerd, '--config-file', settings, '--pidfile', pidFile],
      ready: () => pingEngine(home.socket),
    });
    return { value: home.socket, said: `live-restore ${wish.liveRestore ? 'on' : 'off'}` };
  });
}

/** As an operator does it who changes the configuration: what runs goes on. */
export function reloadPrivateEngine(wish: PrivateEngineWish): void {
  const home = engineHome(wish.root);
  writeSettings(home, wish);
  reloadBackground(home, name);
}

/** SIGTERM ends the engine in order; SIGKILL is what a crash is. */
export async function stopPrivateEngine(
  signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM',
  root?: string,
): Promise<boolean> {
  const home = engineHome(root);
  const ended = await stopBackground(home, name, { signal });
  await containerdGone(join(home.root, 'exec/containerd/containerd.pid'));
  return ended;
}

/**
 * containerd dies with its engine, a moment later, and its id may be somebody else's by then. An
 * engine that is started meanwhile takes it for a living one and waits for it in vain.
 */
async function containerdGone(pidFile: string): Promise<void> {
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
    if (await hasImage(socket, tag)) return { value: undefined, said: `${tag} is there` };
    const body = await readImage(from, tag);
    const contentType = 'application/x-tar';
    await workEngine(socket, { method: 'POST', path: '/images/load', contentType, body });
    await pruneImages(socket, tag.slice(0, tag.lastIndexOf(':')));
    return { value: undefined, said: `${tag} copied` };
  });
}

/** The path of its configuration. */
function writeSettings(home: ReturnType<typeof engineHome>, wish: PrivateEngineWish): string {
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
  const folders: Where = { logs: root, pids: root };
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
