import type { Stats } from 'node:fs';

const permissionBits = 0o777;
/** Years 1 to 9999: JSON, JavaScript and Postgres write these timestamps in the same way. */
const earliestMs = -62_135_596_800_000;
const latestMs = 253_402_300_799_999;

/** The permission bits. The setuid, setgid and sticky bits are not stored. */
export const modeOf = ({ mode }: Pick<Stats, 'mode'>): number => mode & permissionBits;

export const hasSpecialBits = ({ mode }: Pick<Stats, 'mode'>): boolean => (mode & 0o7000) !== 0;

/** An agent can set any time. A time outside the range is moved to its nearest end. */
export function modifiedAtOf({ mtimeMs }: Pick<Stats, 'mtimeMs'>): Date {
  const ms = Number.isNaN(mtimeMs) ? 0 : mtimeMs;
  return new Date(Math.min(Math.max(Math.round(ms), earliestMs), latestMs));
}
