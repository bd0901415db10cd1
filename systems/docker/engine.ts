// Every call to the engine has a deadline: a frozen daemon never answers, and `wait` does not
// settle even when the daemon dies. State is therefore polled by calls that always end.

import { setMaxListeners } from 'node:events';
import Docker from 'dockerode';
import { limits } from '../../core/limits.ts';
import { dockerErrorOf } from './docker-error.ts';

export interface EngineOptions {
  /** `unix:///…`; Docker's default socket if undefined. */
  dockerHost?: string | undefined;
  /** Owner of the containers: containers with another instance's label are never touched. */
  instance: string;
  deadlineMs?: number;
}

/** A runtime as the engine lists it. */
export interface ListedRuntime {
  path?: string;
  runtimeArgs?: string[] | null;
}

export type ListedRuntimes = Readonly<Record<string, ListedRuntime>>;

interface EngineFacts {
  version: string;
  apiVersion: string;
  cpus: number;
  memoryBytes: number;
  runtimes: ListedRuntimes;
  liveRestore: boolean;
}

interface WithSignal {
  abortSignal: AbortSignal;
}

/** These two calls take a signal, although dockerode's types do not declare it. */
interface WithDeadline {
  version(options: WithSignal): Promise<Docker.DockerVersion>;
  info(options: WithSignal): Promise<EngineInfo>;
}

/** The fields of the engine's `info` that are used here. */
interface EngineInfo {
  NCPU: number;
  MemTotal: number;
  Runtimes?: ListedRuntimes;
  LiveRestoreEnabled?: boolean;
}

export interface Engine {
  /** For this folder only: other folders use `Sandboxes`. */
  docker: Docker & WithDeadline;
  instance: string;
  /** Runs one call under the deadline; errors become a DockerError that names `what`. */
  call: <T>(what: string, work: (abortSignal: AbortSignal) => Promise<T>) => Promise<T>;
  version(): Promise<{ version: string; apiVersion: string }>;
  facts(): Promise<EngineFacts>;
  /** Processors of the machine, the maximum for a container. Cached. */
  cpus(): Promise<number>;
  /** The image's own id; DockerError `image_missing` if the engine does not have it. */
  imageId(image: string): Promise<string>;
}

const defaultSocket = '/var/run/docker.sock';

export function createEngine(options: EngineOptions): Engine {
  const { instance, deadlineMs = limits.engine.callTimeoutMs } = options;
  const docker: Docker & WithDeadline = new Docker({ socketPath: socketOf(options.dockerHost) });

  async function call<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(deadlineMs);
    setMaxListeners(0, signal); // the request and its response each listen
    try {
      return await work(signal);
    } catch (error) {
      throw dockerErrorOf(what, error);
    }
  }

  async function version(): Promise<{ version: string; apiVersion: string }> {
    const { Version, ApiVersion } = await call('version', (abortSignal) =>
      docker.version({ abortSignal }),
    );
    return { version: Version, apiVersion: ApiVersion };
  }

  async function imageId(image: string): Promise<string> {
    const { Id } = await call(`inspect image ${image}`, (abortSignal) => {
      const withSignal: Docker.ImageInspectOptions & WithSignal = { abortSignal };
      return docker.getImage(image).inspect(withSignal);
    });
    return Id;
  }

  async function facts(): Promise<EngineFacts> {
    const info = await call('info', (abortSignal) => docker.info({ abortSignal }));
    return {
      ...(await version()),
      cpus: info.NCPU,
      memoryBytes: info.MemTotal,
      runtimes: info.Runtimes ?? {},
      liveRestore: info.LiveRestoreEnabled === true,
    };
  }

  let cachedCpus: number | null = null;
  async function cpus(): Promise<number> {
    cachedCpus ??= (await facts()).cpus;
    return cachedCpus;
  }

  return { instance, docker, call, version, facts, cpus, imageId };
}

/**
 * Sandboxes share folders with this machine, so the engine must be local: a socket, not an address.
 */
function socketOf(dockerHost: string | undefined): string {
  if (dockerHost === undefined) return defaultSocket;
  if (dockerHost.startsWith('unix:///')) return dockerHost.slice('unix://'.length);
  throw new Error(`The Docker Engine must be given as unix:///path, not as ${dockerHost}.`);
}
