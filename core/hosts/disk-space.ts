import type { HostHealth } from './host-health.ts';

/** A host gets new work only if this multiple of its reserve is free. */
const freeReserves = 2;

export const isDiskShort = ({
  diskFreeBytes,
  diskReserveBytes,
}: Pick<HostHealth, 'diskFreeBytes' | 'diskReserveBytes'>): boolean =>
  diskFreeBytes < freeReserves * diskReserveBytes;
