import type { HostHealth } from './host-health.ts';

type DiskHealth = Pick<
  HostHealth,
  'diskFreeBytes' | 'diskReserveBytes' | 'diskFreeInodes' | 'diskReserveInodes'
>;

/** A host gets new work only if this multiple of its reserves is free. */
const freeReserves = 2;

export const isHostDiskShort = (disk: DiskHealth): boolean =>
  disk.diskFreeBytes < freeReserves * disk.diskReserveBytes || isShortOfInodes(disk);

const isShortOfInodes = ({ diskFreeInodes, diskReserveInodes }: DiskHealth): boolean =>
  diskFreeInodes !== null && diskFreeInodes < freeReserves * diskReserveInodes;
