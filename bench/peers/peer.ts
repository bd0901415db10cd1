// Other programs that drive agents over HTTP. Each is installed once, from package registries, and
// runs on the host without a container.

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../dev/lib/folders.ts';
import { runCommand } from '../../dev/lib/run-command.ts';
import { machineMs } from '../../test/fixtures/scripted-agent/machine-clock.ts';
import type { AgentWords } from '../service/agent-words.ts';
import type { Sightings } from '../service/sightings.ts';

export interface Peer {
  id: string;
  /** With the version. */
  name: string;
  /** Installs into a folder, which is renamed afterwards. */
  install(folder: string): Promise<unknown>;
  /** Prepares a start in the empty folder `dataDir`. */
  program(setup: PeerSetup): { command: string; args: string[]; env: Record<string, string> };
  /** Opens a conversation with the started program. */
  open(url: string, setup: PeerSetup): Promise<Say>;
}

interface PeerSetup {
  installed: string;
  dataDir: string;
  modelUrl: string;
  port: string;
}

/** Sends a message. Resolves when the next one may be sent. */
export type Say = (words: AgentWords) => Promise<TurnTimes>;

/** Milliseconds since the request. */
export interface TurnTimes {
  acceptedMs: number;
  firstTextMs: number;
}

export const peerFolder = ({ name }: Peer): string =>
  join(cacheFolder(), `peers-${name.replaceAll(/[^\w.]+/g, '-')}`);

/** Returns why the peer cannot be installed. Undefined if it is installed. */
export async function installPeer(peer: Peer): Promise<string | undefined> {
  const folder = peerFolder(peer);
  if (existsSync(folder)) return undefined;
  const part = `${folder}.part`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  try {
    await peer.install(part);
    renameSync(part, folder);
    return undefined;
  } catch (error) {
    return `${peer.name} is not measured, because it cannot be installed: ${String(error)}`;
  }
}

const checkPython = `import sys
sys.version_info >= (3, 12) or sys.exit('Put Python 3.12 or newer on PATH as python3.')`;

export async function installPython(folder: string, packages: string[]): Promise<void> {
  await runCommand('python3', ['-c', checkPython]);
  await runCommand('python3', ['-m', 'venv', folder]);
  await runCommand(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', ...packages]);
}

export async function postJson(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

/** Resolves when the response ends. */
export async function readText(response: Response, take: (chunk: string) => void): Promise<void> {
  const chunks = response.body?.pipeThrough(new TextDecoderStream()) ?? [];
  for await (const chunk of chunks) take(chunk);
}

interface Turn {
  post(): Promise<unknown>;
  isText(event: string): boolean;
}

export async function timeTurn(seen: Sightings, { post, isText }: Turn): Promise<TurnTimes> {
  const from = seen.count();
  const postedAt = machineMs();
  const accepted = post().then(() => machineMs());
  const [acceptedAt, text] = await Promise.all([accepted, seen.until(isText, from)]);
  return { acceptedMs: acceptedAt - postedAt, firstTextMs: text.at - postedAt };
}
