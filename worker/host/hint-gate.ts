import type { SelfFence } from './self-fence.ts';

/**
 * Decides whether this host acts on hints. It does not while it is fenced, while it polls no tasks
 * or while Temporal does not answer, because a turn or a run could not be stopped then.
 */
interface HintGate {
  isOpen(): boolean;
  /** Until this call, Temporal counts as unreachable. */
  watchTemporal(isReachable: () => boolean): void;
}

export function createHintGate({ fencedSignal }: Pick<SelfFence, 'fencedSignal'>): HintGate {
  let isReachable = (): boolean => false;
  return {
    isOpen: () => !fencedSignal().aborted && isReachable(),
    watchTemporal(isTemporalReachable) {
      isReachable = isTemporalReachable;
    },
  };
}
