// Containers of the simulated engine. Each has a simulated agent instead of a process.

import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { sandboxPaths } from '../../core/sandbox/sandbox-config.ts';
import { createFreezer, type Freezer } from './freezer.ts';
import { runSimulatedAgent, type SandboxFiles, type TurnScript } from './simulated-agent.ts';

/** The fields of a container's specification that are used here. */
export interface ContainerSpec {
  Labels: Record<string, string>;
  HostConfig: { Runtime: string; Mounts: { Source: string; Target: string }[] };
}

export interface SimulatedContainer {
  id: string;
  name: string;
  spec: ContainerSpec;
  status: 'created' | 'running' | 'paused' | 'exited';
  exitCode: number;
  startedAt: Date | null;
  finishedAt: Date | null;
  freezer: Freezer;
  killed: AbortController;
}

export function createContainer(name: string, spec: ContainerSpec): SimulatedContainer {
  return {
    id: randomBytes(32).toString('hex'),
    name,
    spec,
    status: 'created',
    exitCode: 0,
    startedAt: null,
    finishedAt: null,
    freezer: createFreezer(),
    killed: new AbortController(),
  };
}

const exitKilled = 137;
const exitFailed = 70;

/** Resolves when the container has exited. */
export async function runContainer(
  container: SimulatedContainer,
  script: TurnScript,
): Promise<void> {
  const { freezer, killed, spec } = container;
  Object.assign(container, { status: 'running', startedAt: new Date() });
  const files = filesOf(spec);
  const code = runSimulatedAgent({ files, script, freezer, signal: killed.signal }).catch(
    (error) => {
      if (killed.signal.aborted) return exitKilled;
      console.error(error);
      return exitFailed;
    },
  );
  const ended = new Promise<number>((resolve) => {
    killed.signal.addEventListener('abort', () => resolve(exitKilled));
  });
  const exitCode = await Promise.race([code, ended]);
  killed.abort();
  Object.assign(container, { status: 'exited', exitCode, finishedAt: new Date() });
}

/** The run's folders on this machine, from the mounts of the container. */
function filesOf({ HostConfig: { Mounts } }: ContainerSpec): SandboxFiles {
  const sourceOf = (target: string): string => {
    const mount = Mounts.find(({ Target }) => Target === target);
    if (mount === undefined) throw new Error(`nothing is mounted at ${target}`);
    return mount.Source;
  };
  const { socket, spoolDir, spoolFile, configDir } = sandboxPaths;
  return {
    socketFile: join(sourceOf(socket.slice(0, -basename(socket).length - 1)), basename(socket)),
    spoolFile: join(sourceOf(spoolDir), basename(spoolFile)),
    configDir: sourceOf(configDir),
  };
}
