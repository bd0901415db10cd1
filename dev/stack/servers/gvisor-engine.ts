// The engine for tests on gVisor: the stack's, if it has gVisor. Otherwise, if the program is
// installed, a separate engine. The stack's engine is not changed, because other stacks share it,
// and their sandboxes would then run on gVisor.

import { type Folders, isRoot } from '../../lib/folders.ts';
import { SetupError } from '../../lib/setup-error.ts';
import { hasRuntime } from '../engine-api.ts';
import { removeSandboxes } from '../remove-sandboxes.ts';
import { findGvisor, gvisorEntry, gvisorName, tryGvisor } from './gvisor.ts';
import { copyImage, ensurePrivateEngine, stopPrivateEngine } from './private-engine.ts';

interface GvisorEngine {
  /** The path of its socket. Undefined if no engine has gVisor. */
  socket?: string;
  reason?: string;
}

interface GvisorEngineOptions {
  folders: Folders;
  /** The socket of the stack's engine, and the images that tests need. */
  stackSocket: string;
  images: string[];
}

export async function ensureGvisorEngine(options: GvisorEngineOptions): Promise<GvisorEngine> {
  if (await hasRuntime(options.stackSocket, gvisorName, gvisorEntry(''))) {
    return { socket: options.stackSocket };
  }
  const program = findGvisor();
  if (program === undefined) {
    return { reason: 'it is not installed (`npm run setup:gvisor` installs it)' };
  }
  if (!isRoot) return { reason: 'only root may start an engine with it' };
  const reason = await unusableReason(program);
  return reason === null ? { socket: await startOwnEngine(program, options) } : { reason };
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

/** Removes sandboxes that an earlier test left. */
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

/** Beside the stack's data, so that images survive when a test run deletes the data. */
const rootOf = ({ data }: Folders): string => `${data}-gvisor`;
