// The engine resolves the source of a mount, not the worker. A worker in a container has its data
// in a volume, and its own paths mean nothing to the engine. Engines from API 1.45 mount one folder
// of a volume; older ones bind the host folder in which the engine keeps that volume.

import { DockerError } from './docker-error.ts';
import type { Engine } from './engine.ts';

/** The worker's data, as the worker sees it. */
export interface WorkerData {
  /** Absolute. */
  dir: string;
  /** The volume whose root `dir` is; null if worker and engine see the same paths. */
  volume: string | null;
}

/** The same data, as the engine addresses it. */
export type MountSource =
  | { kind: 'host-path' }
  | { kind: 'subpath'; dir: string; volume: string }
  | { kind: 'bind'; dir: string; source: string };

export type FindMountSource = () => Promise<MountSource>;

/** Asks the engine at the first call. Without `data`, worker and engine see the same paths. */
export function createMountSource(engine: Engine, data?: WorkerData): FindMountSource {
  let cached: MountSource | null = null;
  return async () => {
    cached ??= await findMountSource(engine, data ?? { dir: '/', volume: null });
    return cached;
  };
}

const firstSubpathVersion = [1, 45] as const;

async function findMountSource(
  { docker, call, version }: Engine,
  { dir, volume }: WorkerData,
): Promise<MountSource> {
  if (volume === null) return { kind: 'host-path' };
  const { apiVersion } = await version();
  if (supportsSubpath(apiVersion)) return { kind: 'subpath', dir, volume };
  const { Driver, Mountpoint } = await call(`inspect volume ${volume}`, (abortSignal) =>
    docker.getVolume(volume).inspect({ abortSignal }),
  );
  // With any other driver, the files are on the host only while a container uses the volume.
  if (Driver === 'local') return { kind: 'bind', dir, source: Mountpoint };
  throw new DockerError(
    'rejected',
    `docker: the volume ${volume} uses the driver ${Driver}, which needs an engine of API version ` +
      `${firstSubpathVersion.join('.')} or newer; this one has ${apiVersion}`,
  );
}

export function supportsSubpath(apiVersion: string): boolean {
  const [major = 0, minor = 0] = apiVersion.split('.').map(Number);
  const [firstMajor, firstMinor] = firstSubpathVersion;
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}
