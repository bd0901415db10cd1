export interface Idleness {
  idleForMs: number;
  /** 0 while somebody holds the stream; null where nobody did. */
  unattendedForMs: number | null;
}

/**
 * How long an idle session may stay awake: so long after its last turn and after somebody last held
 * its stream, and never longer than the second limit after its last turn. 0: it is to sleep now.
 */
export function msUntilSleep(
  { idleForMs, unattendedForMs }: Idleness,
  limits: { idleMs: number; attendedIdleMs: number },
): number {
  const aloneForMs = Math.min(idleForMs, unattendedForMs ?? idleForMs);
  return Math.max(0, Math.min(limits.idleMs - aloneForMs, limits.attendedIdleMs - idleForMs));
}
