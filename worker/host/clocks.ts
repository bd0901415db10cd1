/** A point in time, read from both clocks of this machine. */
export interface ClockReading {
  /** Stops while the machine is suspended. */
  monotonicMs: number;
  /** May be set forward or back. */
  wallMs: number;
}

export const readClocks = (): ClockReading => ({
  monotonicMs: performance.now(),
  wallMs: Date.now(),
});

/** The longer of the two times: only the wall clock advances while the machine is suspended. */
export const elapsedMs = (from: ClockReading, to: ClockReading): number =>
  Math.max(to.monotonicMs - from.monotonicMs, to.wallMs - from.wallMs);
