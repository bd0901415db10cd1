import { modelLimits } from '../../../core/model/model-limits.ts';

/** The memory of the worker that the bodies of a run's calls occupy. */
export interface RunMemory {
  forCall(): CallMemory;
}

export interface CallMemory {
  /** False if none is left. The bytes that were taken before stay taken. */
  take(bytes: number): boolean;
  /** Called once, at the end of the call. */
  free(): void;
}

/**
 * Bounds the memory of all calls of a host. Each run has a share that no other run can use. What a run needs
 * beyond its share is taken from the memory that all runs of the host have in common.
 */
export function createHostMemory(): { forRun(): RunMemory } {
  let commonBytes = 0;
  const forRun = (): RunMemory => {
    let runBytes = 0;
    const resize = (bytes: number): boolean => {
      const growth = beyondShare(runBytes + bytes) - beyondShare(runBytes);
      const isTooMuch =
        runBytes + bytes > modelLimits.runBodiesMaxBytes ||
        commonBytes + growth > modelLimits.commonBodiesMaxBytes;
      if (bytes > 0 && isTooMuch) return false;
      runBytes += bytes;
      commonBytes += growth;
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

const beyondShare = (runBytes: number): number => Math.max(0, runBytes - modelLimits.runShareBytes);
