import { modelLimits } from '../../../core/model/model-limits.ts';

/** The worker's memory for the bodies of one run's calls. */
export interface RunMemory {
  forCall(): CallMemory;
}

export interface CallMemory {
  /** False if there is not enough memory; then nothing more is taken. */
  take(bytes: number): boolean;
  /** Called once, at the end of the call. */
  free(): void;
}

/**
 * Limits the memory for the calls of all runs of a host. A part is reserved for each run. What a
 * run needs beyond its part is taken from the memory that all runs share.
 */
export function createHostMemory(): { forRun(): RunMemory } {
  let sharedBytes = 0;
  const forRun = (): RunMemory => {
    let runBytes = 0;
    const resize = (bytes: number): boolean => {
      const growth = beyondReserved(runBytes + bytes) - beyondReserved(runBytes);
      const isTooMuch =
        runBytes + bytes > modelLimits.runBodiesMaxBytes ||
        sharedBytes + growth > modelLimits.sharedBodiesMaxBytes;
      if (bytes > 0 && isTooMuch) return false;
      runBytes += bytes;
      sharedBytes += growth;
      return true;
    };
    return {
      forCall() {
        let callBytes = 0;
        return {
          take(bytes) {
            const isTaken = resize(bytes);
            if (isTaken) callBytes += bytes;
            return isTaken;
          },
          free: () => void resize(-callBytes),
        };
      },
    };
  };
  return { forRun };
}

const beyondReserved = (runBytes: number): number =>
  Math.max(0, runBytes - modelLimits.runReservedBytes);
