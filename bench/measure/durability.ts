import { SetupError } from '../../dev/lib/setup-error.ts';

/** With one of them off, Postgres does not write every commit to its disk. */
export const durabilitySettings = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

export function requireDurability(settings: Record<string, string>): void {
  const off = durabilitySettings.filter((name) => settings[name] !== 'on');
  if (off.length === 0) return;
  throw new SetupError(`Postgres must have ${off.join(', ')} set to on for a measurement.`);
}
