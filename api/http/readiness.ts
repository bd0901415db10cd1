import { limits } from '../../core/limits.ts';
import { singleFlight } from '../../lib/async/single-flight.ts';
import { withTimeout } from '../../lib/async/timeout.ts';
import type { Host } from '../../systems/postgres/hosts/host-store.ts';
import type { ApiDeps, DependencyInfo } from '../deps.ts';

const timeoutMs = limits.http.readinessTimeoutMs;

type CheckStatus = 'ok' | 'failed';

interface Readiness {
  status: CheckStatus;
  checks: Record<string, CheckStatus>;
  details: Record<string, { latencyMs: number } & Partial<DependencyInfo>>;
  /** How far this process's clock is ahead of Postgres's; null if unknown. */
  clockAheadMs: number | null;
  /** The hosts' own reports, without their names; null if unknown. */
  hosts: ReturnType<typeof hostView>[] | null;
  /** Null if its free space is unknown. */
  postgresDisk: ReturnType<ApiDeps['postgresDisk']['last']>;
}

type ReadinessDeps = Pick<ApiDeps, 'checks' | 'facts' | 'hostLostMs' | 'logger' | 'postgresDisk'>;

/**
 * Checks every dependency in parallel, each with a timeout. Concurrent callers share one check,
 * because anyone may call this at any rate.
 */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  return singleFlight(() => checkAll(deps));
}

async function checkAll(deps: ReadinessDeps): Promise<Readiness> {
  const { checks, facts, hostLostMs, logger, postgresDisk } = deps;
  const [answers, clockAheadMs, hosts] = await Promise.all([
    Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check, logger))),
    withTimeout(timeoutMs, facts.clockAheadMs()).catch(() => null),
    withTimeout(timeoutMs, facts.hosts()).catch(() => null),
  ]);
  const isReady = answers.every(({ health }) => health === 'ok');
  return {
    status: isReady ? 'ok' : 'failed',
    checks: Object.fromEntries(answers.map(({ name, health }) => [name, health])),
    details: Object.fromEntries(answers.map(({ name, details }) => [name, details])),
    clockAheadMs,
    // A lost host may never come back.
    hosts:
      hosts && hosts.filter(({ msSinceHeartbeat }) => msSinceHeartbeat < hostLostMs).map(hostView),
    postgresDisk: postgresDisk.last(),
  };
}

async function runCheck(
  name: string,
  check: () => Promise<DependencyInfo>,
  logger: ApiDeps['logger'],
) {
  const from = performance.now();
  const latencyMs = () => Math.round(performance.now() - from);
  try {
    const { version } = await withTimeout(timeoutMs, check());
    return { name, health: 'ok' as const, details: { latencyMs: latencyMs(), version } };
  } catch (err) {
    logger.warn({ err, check: name }, 'dependency_unavailable');
    return { name, health: 'failed' as const, details: { latencyMs: latencyMs() } };
  }
}

/** Omits everything that identifies the host, because this endpoint is public. */
function hostView({ msSinceHeartbeat, draining, model, offersModel, report }: Host) {
  return {
    msSinceHeartbeat,
    draining,
    model,
    offersModel,
    engineVersion: report?.engineVersion ?? null,
    imagePresent: report?.imagePresent ?? null,
    runtimeSetting: report?.runtimeSetting ?? null,
    runtime: report?.runtime ?? null,
    runtimeFault: report?.runtimeFault ?? null,
    diskFreeBytes: report?.diskFreeBytes ?? null,
    diskTotalBytes: report?.diskTotalBytes ?? null,
    diskFreeInodes: report?.diskFreeInodes ?? null,
    clockAheadMs: report?.clockAheadMs ?? null,
  };
}
