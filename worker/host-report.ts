import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { HostReport } from '../core/host-report.ts';
import { limits } from '../core/limits.ts';
import type { Engine } from '../systems/docker/engine.ts';
import { pause } from './supervisor/wait.ts';

export interface HostReportDeps {
  config: { dataDir: string } & Pick<HostReport, 'instance' | 'kept'> & { sandboxImage: string };
  engine: Pick<Engine, 'version' | 'imageId'>;
  /** Of this process's clock, against Postgres's. */
  clockAheadMs(): Promise<number>;
  logger: Logger;
}

export interface HostReporter {
  /** Null until it has looked. */
  last(): HostReport | null;
  /** Looks again and again, until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Looks apart from whoever says that the host is there: an engine that is frozen answers after its
 * deadline only, and by then the host would be taken for lost.
 */
export function createHostReporter(deps: HostReportDeps): HostReporter {
  let last: HostReport | null = null;
  return {
    last: () => last,
    async run(signal) {
      while (!signal.aborted) {
        try {
          last = await look(deps);
        } catch (err) {
          deps.logger.warn({ err }, 'host_report_failed');
        }
        await pause(limits.hostReportEveryMs, signal);
      }
    },
  };
}

async function look(deps: HostReportDeps): Promise<HostReport> {
  const [engine, clockAheadMs, disk] = await Promise.all([
    lookAtEngine(deps),
    deps.clockAheadMs().catch(() => null),
    statfs(deps.config.dataDir),
  ]);
  return {
    ...engine,
    instance: deps.config.instance,
    kept: deps.config.kept,
    image: deps.config.sandboxImage,
    diskFreeBytes: disk.bavail * disk.bsize,
    diskTotalBytes: disk.blocks * disk.bsize,
    clockAheadMs,
  };
}

async function lookAtEngine({ engine, config }: HostReportDeps) {
  try {
    const { version } = await engine.version();
    return {
      engineVersion: version,
      engineTrouble: null,
      imagePresent: await has(engine, config.sandboxImage),
    };
  } catch (error) {
    const engineTrouble = error instanceof Error ? error.message : String(error);
    return { engineVersion: null, engineTrouble, imagePresent: null };
  }
}

async function has(engine: Pick<Engine, 'imageId'>, image: string): Promise<boolean | null> {
  try {
    await engine.imageId(image);
    return true;
  } catch (error) {
    return isMissing(error) ? false : null;
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'image_missing';
