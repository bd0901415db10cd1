interface Idleness {
  idleForMs: number;
  /**
   * Time without a stream reader and background work: 0 while there is one, null if there was none.
   */
  unattendedForMs: number | null;
}

/**
 * How long an idle session may still stay awake: `idleMs` after its last turn, its last background
 * work and its last stream reader, but at most `attendedIdleMs` after its last turn, also with a
 * background task that never ends. 0: put it to sleep now.
 */
export function msUntilSleep(
  { idleForMs, unattendedForMs }: Idleness,
  limits: { idleMs: number; attendedIdleMs: number },
): number {
  const unusedForMs = Math.min(idleForMs, unattendedForMs ?? idleForMs);
  return Math.max(0, Math.min(limits.idleMs - unusedForMs, limits.attendedIdleMs - idleForMs));
}
