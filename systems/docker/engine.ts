// Every call to the engine has a deadline: a frozen daemon answers nothing, for ever, and `wait` does
// not even settle when the daemon dies. So state is polled by calls that end, one way or the other.

import { setMaxListeners } from 'node:events';
import Docker from 'dockerode';
import { limits } from '../../core/limits.ts';
import type { RuntimeSetting } from '../../core/sandbox/sandbox-runtime.ts';
import { dockerErrorOf } from './docker-error.ts';
import { findMountSource, type MountSource, type WorkerData } from './mount-source.ts';
import { probeRuntime } from './runtime/probe-runtime.ts';
import {
  createRuntimeSelector,
  type ListedRuntimes,
  type RuntimeSelector,
} from './runtime/runtime-selector.ts';

export interface EngineOptions {
  /** `unix:///…`; Docker's usual socket if not given. */
  dockerHost?: string | undefined;
  /** Whose containers these are: nothing that carries another instance's label is ever touched. */
  instance: string;
  /** Where sandboxes find their folders; where the engine sees the paths of this process if not given. */
  data?: WorkerData;
  /** `auto` if not given. */
  runtime?: RuntimeSetting;
  /** The image to try a runtime with, where the engine does not tell enough of it. */
  image?: string | undefined;
  deadlineMs?: number;
}

export interface EngineFacts {
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

/** Two calls that take a signal like the others, though their declarations do not say so. */
interface WithDeadline {
  version(options: WithSignal): Promise<Docker.DockerVersion>;
  info(options: WithSignal): Promise<EngineInfo>;
}

/** What is read of the engine's description of itself. */
interface EngineInfo {
  NCPU: number;
  MemTotal: number;
  Runtimes?: ListedRuntimes;
  LiveRestoreEnabled?: boolean;
}

export interface EngineCalls {
  /** For this folder alone: everything else speaks of sandboxes. */
  docker: Docker & WithDeadline;
  /** Runs one call under the deadline; what it throws becomes a DockerError that names `what`. */
  call: <T>(what: string, work: (abortSignal: AbortSignal) => Promise<T>) => Promise<T>;
  version(): Promise<{ version: string; apiVersion: string }>;
}

export interface Engine extends EngineCalls, RuntimeSelector {
  instance: string;
  facts(): Promise<EngineFacts>;
  /** How it reaches the folders of sandboxes. Asked once. */
  mountSource(): Promise<MountSource>;
  /** How many the machine has: no container may be given more. Asked once. */
  cpus(): Promise<number>;
  /** The image's own id; DockerError `image_missing` where the engine does not have it. */
  imageId(image: string): Promise<string>;
}

const defaultSocket = '/var/run/docker.sock';
const samePaths: WorkerData = { dir: '/', volume: null };

export function createEngine(options: EngineOptions): Engine {
  const { instance, deadlineMs = limits.engineCallTimeoutMs } = options;
  const docker: Docker & WithDeadline = new Docker({ socketPath: socketOf(options.dockerHost) });

  async function call<T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.timeout(deadlineMs);
    setMaxListeners(0, signal); // the request and its answer each listen
    try {
      return await work(signal);
    } catch (error) {
      throw dockerErrorOf(what, error);
    }
  }

  async function version(): Promise<{ version: string; apiVersion: string }> {
    const said = await call('version', (abortSignal) => docker.version({ abortSignal }));
    return { version: said.Version, apiVersion: said.ApiVersion };
  }

  async function imageId(image: string): Promise<string> {
    const what = `inspect image ${image}`;
    const found = await call(what, (abortSignal) => {
      const withSignal: Docker.ImageInspectOptions & WithSignal = { abortSignal };
      return docker.getImage(image).inspect(withSignal);
    });
    return found.Id;
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

  let known: number | null = null;
  async function cpus(): Promise<number> {
    known ??= (await facts()).cpus;
    return known;
  }

  let place: MountSource | null = null;
  async function mountSource(): Promise<MountSource> {
    place ??= await findMountSource({ docker, call: call, version }, options.data ?? samePaths);
    return place;
  }

  const choice = createRuntimeSelector(options.runtime ?? 'auto', {
    listed: async () => (await facts()).runtimes,
    probe: (runtime) => probeRuntime(engine, { ...options, runtime }),
  });
  const parts = { instance, docker, call, version, facts, mountSource, cpus, imageId };
  const engine: Engine = { ...parts, ...choice };
  return engine;
}

/** Sandboxes share folders with this machine, so the engine is on it: a socket, never an address. */
function socketOf(dockerHost: string | undefined): string {
  if (dockerHost === undefined) return defaultSocket;
  if (dockerHost.startsWith('unix:///')) return dockerHost.slice('unix://'.length);
  throw new Error(`The Docker Engine must be given as unix:///path, not as ${dockerHost}.`);
}
