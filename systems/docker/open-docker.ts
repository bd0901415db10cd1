import type { RuntimeSetting } from '../../core/sandbox/sandbox-runtime.ts';
import { createEngine, type Engine, type EngineOptions } from './engine.ts';
import { createMountSource, type FindMountSource, type WorkerData } from './mount-source.ts';
import { createRuntimeSelector, type RuntimeSelector } from './runtime/runtime-selector.ts';
import { createSandboxes, type Sandboxes } from './sandboxes.ts';

interface DockerOptions extends EngineOptions {
  /**
   * Where sandboxes find their folders; if undefined, the engine sees the paths of this process.
   */
  data?: WorkerData;
  /** `auto` if undefined. */
  runtime?: RuntimeSetting;
  /** The image to probe a runtime with, if the engine's listing does not settle it. */
  image?: string | undefined;
}

export interface Docker {
  engine: Engine;
  runtimes: RuntimeSelector;
  mountSource: FindMountSource;
  sandboxes: Sandboxes;
}

/** The engine's calls, and the choices that are made with them. Connects to nothing yet. */
export function openDocker(options: DockerOptions): Docker {
  const engine = createEngine(options);
  const mountSource = createMountSource(engine, options.data);
  const runtimes = createRuntimeSelector(engine, { ...options, mountSource });
  const sandboxes = createSandboxes({ engine, runtimes, mountSource });
  return { engine, runtimes, mountSource, sandboxes };
}
