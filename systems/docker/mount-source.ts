// Who resolves the source of a mount is the engine, not the worker. A worker in a container has its
// data in a volume, whose path inside says nothing to the engine. What does is asked of the engine at
// the first use: newer ones give a container one folder of a volume; for the others it is a bind of
// the place where the engine itself keeps that volume.

import { DockerError } from './docker-error.ts';
import type { EngineCalls } from './engine.ts';

/** Where the worker's data is, as the worker knows it. */
export interface WorkerData {
  /** Its folder, absolute. */
  dir: string;
  /** The volume whose root that folder is; null where worker and engine see the same paths. */
  volume: string | null;
}

/** The same, as the engine has to be told. */
export type MountSource =
  | { kind: 'host-path' }
  | { kind: 'subpath'; dir: string; volume: string }
  | { kind: 'bind'; dir: string; source: string };

const firstSubpathVersion = [1, 45] as const;

export async function findMountSource(
  { docker, call: call, version }: EngineCalls,
  { dir, volume }: WorkerData,
): Promise<MountSource> {
  if (volume === null) return { kind: 'host-path' };
  const { apiVersion } = await version();
  if (supportsSubpath(apiVersion)) return { kind: 'subpath', dir, volume };
  const { Driver, Mountpoint } = await call(`inspect volume ${volume}`, (abortSignal) =>
    docker.getVolume(volume).inspect({ abortSignal }),
  );
  // Of another driver's volume the engine has the files only while a container uses them.
  if (Driver === 'local') return { kind: 'bind', dir, source: Mountpoint };
  throw new DockerError(
    'refused',
    `docker: ${volume} is a volume of the driver ${Driver}, of which only engines of API version ` +
      `${firstSubpathVersion.join('.')} and newer give a sandbox its own folder; this is ${apiVersion}`,
  );
}

export function supportsSubpath(apiVersion: string): boolean {
  const [major = 0, minor = 0] = apiVersion.split('.').map(Number);
  const [firstMajor, firstMinor] = firstSubpathVersion;
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}
