/** A moment by both clocks of this machine. */
export interface ClockReading {
  /** Stops while the machine is suspended. */
  monotonicMs: number;
  /** May be set. */
  wallMs: number;
}

export const readClocks = (): ClockReading => ({
  monotonicMs: performance.now(),
  wallMs: Date.now(),
});

/** The longer time of the two clocks: one of them also covers the time of a suspension. */
export const elapsedMs = (from: ClockReading, to: ClockReading): number =>
  Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs);
