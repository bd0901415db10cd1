import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { constants as os } from 'node:os';
import { basename, join } from 'node:path';
import type { Writable } from 'node:stream';
import type { SandboxConfig } from '../../core/sandbox/sandbox-config.ts';
import { agentEnv } from './agent-env.ts';
import type { Paths } from './constants.ts';

export interface AgentEnd {
  /** The exit code, or 128 and the signal's number. */
  code: number;
  signal: NodeJS.Signals | null;
}

export interface Agent {
  stdin: Writable;
  /** Signals the agent and the processes that it started in its process group. */
  kill(signal: NodeJS.Signals): void;
  /** Rejects when the program cannot be started. */
  ended: Promise<AgentEnd>;
}

/** Starts the agent. Its output goes directly into the spool, which the host reads. */
export function startAgent(config: SandboxConfig, paths: Paths): Agent {
  writeFiles(config, paths);
  const out = openToAppend(paths.spoolFile);
  const err = openToAppend(paths.stderrFile);
  const child = spawn(paths.agent, config.args, {
    cwd: paths.workspace,
    env: agentEnv(config.env, paths),
    stdio: ['pipe', out, err],
    detached: true,
  });
  closeSync(out);
  closeSync(err);
  const { pid, stdin } = child;
  if (stdin === null) throw new Error('the agent has no stdin pipe');
  stdin.on('error', () => {}); // the agent's exit is reported instead
  const ended = new Promise<AgentEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve({ code: exitCode(code, signal), signal }));
  });
  return { stdin, kill: (signal) => killGroup(pid, signal), ended };
}

function writeFiles({ files }: SandboxConfig, { filesDir }: Paths): void {
  mkdirSync(filesDir, { recursive: true, mode: 0o700 });
  for (const { name, content } of files) {
    writeFileSync(join(filesDir, basename(name)), content, { mode: 0o600 });
  }
}

/** The host creates the file, so a missing one is an error. */
function openToAppend(path: string): number {
  return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW);
}

function exitCode(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? 128 + (signal === null ? 0 : os.signals[signal]);
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // already exited
  }
}
