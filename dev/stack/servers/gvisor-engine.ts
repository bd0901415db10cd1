// The engine on which tests find gVisor: the stack's own where that has it; else, where the program is
// on this machine, one for these tests alone. The stack's is not given it: other stacks use that, too,
// and their sandboxes would run on gVisor because somebody tested.

import { type Folders, isRoot } from '../../lib/folders.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { hasRuntime } from '../engine-api.ts';
import { removeSandboxes } from '../remove-sandboxes.ts';
import { findGvisor, gvisorEntry, gvisorName, tryGvisor } from './gvisor.ts';
import { copyImage, ensurePrivateEngine, stopPrivateEngine } from './private-engine.ts';

export interface GvisorEngine {
  /** The path of its socket; undefined where there is none. */
  socket?: string;
  reason?: string;
}

interface GvisorEngineOptions {
  folders: Folders;
  /** The path of the stack's engine's socket, and what of it tests need. */
  stackSocket: string;
  images: string[];
}

export async function ensureGvisorEngine(wish: GvisorEngineOptions): Promise<GvisorEngine> {
  if (await hasRuntime(wish.stackSocket, gvisorName, gvisorEntry(''))) {
    return { socket: wish.stackSocket };
  }
  const program = findGvisor();
  if (program === undefined) {
    return { reason: 'it is not on this machine (`npm run setup:gvisor` puts it there)' };
  }
  if (!isRoot) return { reason: 'only root may start an engine that has it' };
  const whyNot = await unusableReason(program);
  return whyNot === null ? { socket: await startOwnEngine(program, wish) } : { reason: whyNot };
}

async function unusableReason(program: string): Promise<string | null> {
  try {
    await tryGvisor(program);
    return null;
  } catch (error) {
    if (error instanceof SetupError) return error.message;
    throw error;
  }
}

export function stopGvisorEngine(folders: Folders): Promise<boolean> {
  return stopPrivateEngine('SIGTERM', rootOf(folders));
}

/** What an earlier test left in it is removed. */
async function startOwnEngine(
  program: string,
  { folders, stackSocket, images }: GvisorEngineOptions,
): Promise<string> {
  const root = rootOf(folders);
  const runtimes = { [gvisorName]: gvisorEntry(program) };
  const socket = await ensurePrivateEngine({ liveRestore: false, runtimes, root });
  await removeSandboxes(socket, folders.data);
  for (const image of images) await copyImage(stackSocket, image, root);
  return socket;
}

/** Beside the stack's data, which every test run begins by removing: images are to stay. */
const rootOf = ({ data }: Folders): string => `${data}-gvisor`;
