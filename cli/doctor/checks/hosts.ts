import { isHostDiskShort } from '../../../core/hosts/disk-space.ts';
import type { HostHealth } from '../../../core/hosts/host-health.ts';
import { hostModelAdvice } from '../../../core/hosts/host-model.ts';
import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import { limits } from '../../../core/limits.ts';
import { runtimeAdvice } from '../../../core/sandbox/sandbox-runtime.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import {
  freeDiskSpace,
  freeSpaceOf,
  isShort,
  provideImage,
  setClock,
  sizeOf,
  startEngine,
} from '../advice.ts';
import { type Check, checked, type Problem } from '../types.ts';
import { offBy } from './postgres.ts';

export const hostsCheck: Check = {
  name: 'hosts',
  needs: ['schema'],
  onError: {
    code: 'hosts_unreadable',
    message: 'The hosts cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    const all = await context.hosts.list();
    const { staleMs } = hostThresholds(context.config.times.hostLostMs);
    const live = all.filter((host) => isLive(host, staleMs));
    const stale = all.filter(
      (host) => !live.includes(host) && (host.used > 0 || live.length === 0),
    );
    return checked(
      live.map(description),
      ...stale.map(staleHost),
      ...(all.length === 0 ? [noHost] : slotProblems(live)),
      ...live.filter(lacksModel).map(hostWithoutModel),
      ...live.flatMap(reported),
    );
  },
};

function description({ name, used, capacity, draining, model, report }: Host): string {
  const runtime = report?.runtime ? ` with ${report.runtime}` : '';
  const engine = report?.engineVersion ? `, Docker ${report.engineVersion}${runtime}` : '';
  const disk = report ? `, ${sizeOf(report.diskFreeBytes)} free, ${quotasOf(report)}` : '';
  const state = `${draining ? ', draining' : ''}${model === 'key' ? '' : ', no model key'}`;
  return `${name}: ${used} of ${capacity} slots${state}${engine}${disk}`;
}

/** Without quotas a host works as well, so this is no problem. */
function quotasOf({ projectQuotas: state }: HostHealth): string {
  if (state === 'denied') return 'project quotas not permitted to the worker';
  return state === 'enforced' ? 'project quotas' : 'no project quotas';
}

const noHost: Problem = {
  code: 'no_host',
  message: 'No worker has ever run.',
  advice: 'Start a worker. Until then, runs queue and eventually fail with `no capacity`.',
};

const staleHost = ({ name, msSinceHeartbeat, used }: Host): Problem => ({
  code: 'host_stale',
  message: `The host ${name} has sent no heartbeat for ${Math.round(msSinceHeartbeat / 1_000)} s and occupies ${used} slots.`,
  advice:
    'Restart its worker with the same DATA_DIR: it adopts its sandboxes. If the host does not come back, its runs are ended and its sessions continue on other hosts.',
});

/** The same rule as `is_live` in SQL: a stopped worker gets nothing new at once. */
export const isLive = ({ msSinceHeartbeat, stoppedAt }: Host, staleMs: number): boolean =>
  stoppedAt === null && msSinceHeartbeat < staleMs;

/** With OFFLINE_MODEL=no the operator has chosen it. */
const lacksModel = ({ model, offersModel }: Host): boolean => !offersModel && model !== 'none';

const hostWithoutModel = ({ name }: Host): Problem => ({
  code: 'host_without_model',
  message: `The host ${name} has no model key: it gets only runs of projects that have a model key.`,
  advice: hostModelAdvice,
});

function slotProblems(live: Host[]): Problem[] {
  if (live.length === 0) return [];
  const open = live.filter(({ draining }) => !draining);
  if (open.length === 0) {
    const message = 'Every host is draining: no run can start.';
    return [{ code: 'all_draining', message, advice: 'Run `flowrun host undrain <host>`.' }];
  }
  if (open.some(({ used, capacity }) => used < capacity)) return [];
  const message = 'All slots of all hosts are occupied: new runs queue.';
  const advice = 'Add a host, raise HOST_CAPACITY if memory allows, or stop runs.';
  return [{ code: 'no_free_slot', message, advice }];
}

/** Problems that only the host itself can see. */
function reported({ name, report }: Host): Problem[] {
  if (report === null) return [];
  const { engineProblem, imagePresent, image, runtimeFault, clockAheadMs } = report;
  const disk = { freeBytes: report.diskFreeBytes, freeInodes: report.diskFreeInodes };
  const found: (Problem | false)[] = [
    engineProblem !== null && {
      code: 'host_engine_unreachable',
      message: `The Docker Engine of the host ${name} does not respond: ${engineProblem}.`,
      advice: startEngine,
    },
    imagePresent === false && {
      code: 'host_image_missing',
      message: `The host ${name} does not have the image ${image}.`,
      advice: provideImage,
    },
    typeof runtimeFault === 'string' && {
      code: `host_${runtimeFault}`,
      message: `The host ${name} cannot start sandboxes on ${report.runtimeSetting}: ${report.runtimeProblem}.`,
      advice: runtimeAdvice[runtimeFault],
    },
    (isShort(disk) || isHostDiskShort(report)) && {
      code: 'host_disk_short',
      message: `The disk of the host ${name} has only ${freeSpaceOf(disk)} free${isHostDiskShort(report) ? ': it gets no new runs' : ''}.`,
      advice: freeDiskSpace,
    },
    Math.abs(clockAheadMs ?? 0) > limits.host.clockOffMaxMs && {
      code: 'host_clock_wrong',
      message: `The clock of the host ${name} is ${offBy(clockAheadMs ?? 0)} that of Postgres.`,
      advice: setClock,
    },
  ];
  return found.filter((problem) => problem !== false);
}
