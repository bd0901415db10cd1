import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { WorkerConfig } from '../../config/config.ts';
import type { HostHealth } from '../../core/hosts/host-health.ts';
import { limits } from '../../core/limits.ts';
import { runtimeAdvice, runtimeFaultOf } from '../../core/sandbox/sandbox-runtime.ts';
import { sleep } from '../../lib/async/sleep.ts';
import type { DockerErrorCode } from '../../systems/docker/docker-error.ts';
import type { Docker } from '../../systems/docker/open-docker.ts';
import type { ProjectQuotas } from './quota/project-quotas.ts';

interface HostHealthDeps {
  config: Pick<HostHealth, 'instance' | 'retention' | 'postgresConnections'> &
    Pick<WorkerConfig, 'dataDir' | 'diskReserve' | 'sandboxImage' | 'sandboxRuntime'>;
  docker: Pick<Docker, 'engine' | 'runtimes'>;
  projectQuotas: Pick<ProjectQuotas, 'state'>;
  /** This process's clock minus Postgres's. */
  clockAheadMs(): Promise<number>;
  logger: Logger;
}

interface HostHealthMonitor {
  /** Null until the first probe. */
  last(): HostHealth | null;
  /** Probes periodically until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Probes independently of the heartbeat. A frozen engine answers only after its deadline, and by
 * then the host would count as lost.
 */
export function createHostHealthMonitor(deps: HostHealthDeps): HostHealthMonitor {
  let last: HostHealth | null = null;
  return {
    last: () => last,
    async run(signal) {
      while (!signal.aborted) {
        try {
          const found = await probeHost(deps);
          logRuntimeChange(found, last, deps.logger);
          last = found;
        } catch (err) {
          deps.logger.warn({ err }, 'host_probe_failed');
        }
        await sleep(limits.host.healthEveryMs, signal);
      }
    },
  };
}

/** Logs the runtime at first and after each change. */
function logRuntimeChange(now: HostHealth, before: HostHealth | null, logger: Logger): void {
  const { runtimeSetting: setting, runtime, runtimeFault: fault, runtimeProblem: why } = now;
  if (runtime === before?.runtime && why === before.runtimeProblem) return;
  if (runtime !== null) logger.info({ runtime, setting }, 'sandbox_runtime');
  if (fault !== null) logger.error({ setting, why, advice: runtimeAdvice[fault] }, fault);
}

async function probeHost(deps: HostHealthDeps): Promise<HostHealth> {
  const [engine, clockAheadMs, disk, projectQuotas] = await Promise.all([
    probeEngine(deps),
    deps.clockAheadMs().catch(() => null),
    statfs(deps.config.dataDir),
    deps.projectQuotas.state(),
  ]);
  return {
    ...engine,
    instance: deps.config.instance,
    retention: deps.config.retention,
    postgresConnections: deps.config.postgresConnections,
    image: deps.config.sandboxImage,
    runtimeSetting: deps.config.sandboxRuntime,
    diskFreeBytes: disk.bavail * disk.bsize,
    diskTotalBytes: disk.blocks * disk.bsize,
    diskReserveBytes: deps.config.diskReserve.bytes,
    diskFreeInodes: disk.files === 0 ? null : disk.ffree,
    diskReserveInodes: deps.config.diskReserve.inodes,
    projectQuotas,
    clockAheadMs,
  };
}

async function probeEngine({ docker: { engine, runtimes }, config }: HostHealthDeps) {
  try {
    const { version } = await engine.version();
    return {
      engineVersion: version,
      engineProblem: null,
      imagePresent: await has(engine, config.sandboxImage),
      ...(await probeRuntime(runtimes)),
    };
  } catch (error) {
    const engineProblem = messageOf(error);
    return { ...unknownRuntime, engineVersion: null, engineProblem, imagePresent: null };
  }
}

async function has(
  engine: Pick<Docker['engine'], 'imageId'>,
  image: string,
): Promise<boolean | null> {
  try {
    await engine.imageId(image);
    return true;
  } catch (error) {
    return isMissing(error, 'image_missing') ? false : null;
  }
}

const unknownRuntime = { runtime: null, runtimeFault: null, runtimeProblem: null };

async function probeRuntime(runtimes: Docker['runtimes']) {
  try {
    return { ...unknownRuntime, runtime: await runtimes.findRuntime() };
  } catch (error) {
    const fault = runtimeFaultOf(error);
    if (fault === null) return unknownRuntime;
    return { runtime: null, runtimeFault: fault, runtimeProblem: messageOf(error) };
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const isMissing = (error: unknown, code: DockerErrorCode): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
