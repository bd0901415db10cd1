import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ToolOutcome } from '../frames.ts';
import { textAt } from '../json.ts';
import type { Handlers } from '../run-steps.ts';
import { useTool } from '../turn.ts';

/** Runs a command as the CLI's Bash tool does: an interrupt ends it and all it started. */
export const shellSteps: Handlers = {
  shell: async (step, turn) => {
    const command = textAt(step, 'shell');
    await useTool(turn, { name: 'Bash', input: { command }, subject: command }, () =>
      runShell(command, turn.signal),
    );
  },
};

async function runShell(command: string, signal: AbortSignal): Promise<ToolOutcome> {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stderr.on('data', (piece: Buffer) => pieces.push(piece));
  const end = () => endGroup(child.pid);
  signal.addEventListener('abort', end);
  process.on('exit', end);
  // Node documents these two as the event's arguments.
  const [code, killedBy] = (await once(child, 'close')) as [number | null, string | null];
  signal.removeEventListener('abort', end);
  process.off('exit', end);
  signal.throwIfAborted();
  const text = Buffer.concat(pieces).toString('utf8');
  if (code === 0) return { text, isError: false };
  return { text: `Exit code ${code ?? killedBy}\n${text}`, isError: true };
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has ended by itself.
  }
}
