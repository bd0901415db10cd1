import { limits } from '../../core/limits.ts';
import type { Host } from '../../systems/postgres/hosts/host-store.ts';
import type { ApiDeps } from '../deps.ts';

/** What a check has found out. */
export interface CheckFacts {
  /** Null where it does not say. */
  version: string | null;
}

type CheckStatus = 'ok' | 'failed';

export interface Readiness {
  status: CheckStatus;
  checks: Record<string, CheckStatus>;
  details: Record<string, { latencyMs: number } & Partial<CheckFacts>>;
  /** Of this process's clock, against Postgres's; null where that is not known. */
  clockAheadMs: number | null;
  /** What the hosts say of themselves, without their names; null where that is not known. */
  hosts: ReturnType<typeof hostView>[] | null;
}

type ReadinessDeps = Pick<ApiDeps, 'checks' | 'facts' | 'hostLostMs' | 'logger'>;

/**
 * Asks every part at once, each within its time. Who asks meanwhile gets the same answer: anybody may
 * ask, and as often as they like.
 */
export function createReadiness(deps: ReadinessDeps): () => Promise<Readiness> {
  let inFlight: Promise<Readiness> | null = null;
  return () => {
    inFlight ??= checkAll(deps).finally(() => {
      inFlight = null;
    });
    return inFlight;
  };
}

async function checkAll({ checks, facts, hostLostMs, logger }: ReadinessDeps): Promise<Readiness> {
  const [answers, clockAheadMs, hosts] = await Promise.all([
    Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check, logger))),
    withTimeout(facts.clockAheadMs).catch(() => null),
    withTimeout(facts.hosts).catch(() => null),
  ]);
  const isReady = answers.every(({ health }) => health === 'ok');
  return {
    status: isReady ? 'ok' : 'failed',
    checks: Object.fromEntries(answers.map(({ name, health }) => [name, health])),
    details: Object.fromEntries(answers.map(({ name, details }) => [name, details])),
    clockAheadMs,
    // One that was given up may be gone for good.
    hosts: hosts && hosts.filter(({ silentMs }) => silentMs < hostLostMs).map(hostView),
  };
}

async function runCheck(name: string, check: () => Promise<CheckFacts>, logger: ApiDeps['logger']) {
  const from = performance.now();
  const latencyMs = () => Math.round(performance.now() - from);
  try {
    const { version } = await withTimeout(check);
    return { name, health: 'ok' as const, details: { latencyMs: latencyMs(), version } };
  } catch (err) {
    logger.warn({ err, check: name }, 'dependency_unavailable');
    return { name, health: 'failed' as const, details: { latencyMs: latencyMs() } };
  }
}

/** Nothing by which a stranger could find or name it. */
function hostView({ silentMs, draining, report }: Host) {
  return {
    silentMs,
    draining,
    engineVersion: report?.engineVersion ?? null,
    imagePresent: report?.imagePresent ?? null,
    runtimeSetting: report?.runtimeSetting ?? null,
    runtime: report?.runtime ?? null,
    runtimeTrouble: report?.runtimeFault ?? null,
    diskFreeBytes: report?.diskFreeBytes ?? null,
    diskTotalBytes: report?.diskTotalBytes ?? null,
    diskFreeInodes: report?.diskFreeInodes ?? null,
    clockAheadMs: report?.clockAheadMs ?? null,
  };
}

async function withTimeout<T>(question: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), limits.readinessTimeoutMs);
  });
  try {
    return await Promise.race([question(), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
