import { hostThresholds } from '../../../core/hosts/host-thresholds.ts';
import { limits } from '../../../core/limits.ts';
import { runtimeAdvice } from '../../../core/sandbox/sandbox-runtime.ts';
import type { Host } from '../../../systems/postgres/hosts/host-store.ts';
import { getImage, isShort, leftOn, makeRoom, setClock, sizeOf, startEngine } from '../advice.ts';
import { type Check, checked, type Problem } from '../types.ts';
import { offBy } from './postgres.ts';

export const hosts: Check = {
  name: 'hosts',
  needs: ['schema'],
  ifItFails: {
    code: 'hosts_unreadable',
    what: 'The hosts cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const all = await parts.hosts.list();
    const { staleMs: unseenMs } = hostThresholds(parts.config.times.hostLostMs);
    const live = all.filter(({ silentMs }) => silentMs < unseenMs);
    const silent = all.filter(
      (host) => !live.includes(host) && (host.used > 0 || live.length === 0),
    );
    return checked(
      live.map(description),
      ...silent.map(silence),
      ...(all.length === 0 ? [noHost] : placesOf(live)),
      ...live.flatMap(reported),
    );
  },
};

function description({ name, used, capacity, draining, report }: Host): string {
  const runtime = report?.runtime ? ` with ${report.runtime}` : '';
  const engine = report?.engineVersion ? `, Docker ${report.engineVersion}${runtime}` : '';
  const disk = report ? `, ${sizeOf(report.diskFreeBytes)} free` : '';
  return `${name}: ${used} of ${capacity} places${draining ? ', draining' : ''}${engine}${disk}`;
}

const noHost: Problem = {
  code: 'no_host',
  what: 'No host was ever seen.',
  advice:
    'Start a worker: each is a host. Until then admitted runs wait, and end for want of a place.',
};

const silence = ({ name, silentMs, used }: Host): Problem => ({
  code: 'host_silent',
  what: `The host ${name} has said nothing for ${Math.round(silentMs / 1_000)} s and holds ${used} places.`,
  advice:
    'Start its worker again on the same data folder: it goes on with what it had. Where it is gone for good, its runs are ended and its sessions go on elsewhere.',
});

function placesOf(live: Host[]): Problem[] {
  if (live.length === 0) return [];
  const open = live.filter(({ draining }) => !draining);
  if (open.length === 0) {
    const what = 'Every host is draining: nothing new is placed.';
    return [{ code: 'all_draining', what, advice: 'Run `flowrun host undrain <host>`.' }];
  }
  if (open.some(({ used, capacity }) => used < capacity)) return [];
  const what = 'Every place on every host is taken: what is triggered now waits.';
  const advice = 'Add a host, or raise HOST_CAPACITY where memory allows; or stop runs.';
  return [{ code: 'no_place', what, advice }];
}

/** What only the host itself can see. */
function reported({ name, report }: Host): Problem[] {
  if (report === null) return [];
  const { engineTrouble, imagePresent, image, runtimeFault, clockAheadMs } = report;
  const room = { freeBytes: report.diskFreeBytes, freeInodes: report.diskFreeInodes };
  const found: (Problem | false)[] = [
    engineTrouble !== null && {
      code: 'host_engine_unreachable',
      what: `On the host ${name} the Docker Engine does not answer: ${engineTrouble}.`,
      advice: startEngine,
    },
    imagePresent === false && {
      code: 'host_image_missing',
      what: `The host ${name} does not have the image ${image}.`,
      advice: getImage,
    },
    typeof runtimeFault === 'string' && {
      code: `host_${runtimeFault}`,
      what: `The host ${name} cannot start sandboxes on ${report.runtimeSetting}: ${report.runtimeTrouble}.`,
      advice: runtimeAdvice[runtimeFault],
    },
    isShort(room) && {
      code: 'host_disk_short',
      what: `The host ${name} has ${leftOn(room)} left on its disk.`,
      advice: makeRoom,
    },
    Math.abs(clockAheadMs ?? 0) > limits.clockOffMaxMs && {
      code: 'host_clock_wrong',
      what: `The clock of the host ${name} is ${offBy(clockAheadMs ?? 0)} that of Postgres.`,
      advice: setClock,
    },
  ];
  return found.filter((trouble) => trouble !== false);
}
