interface Idleness {
  idleForMs: number;
  /**
   * Since the session last had a stream reader or background work: 0 while it has either, null if
   * it never had one.
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
