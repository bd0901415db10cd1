import { CancellationScope, setHandler } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { stopSignal } from './signals.ts';

/** The cause applies only if none was recorded before. */
export interface StopRequest {
  cause: EndCause;
  graceMs: number;
}

/** Resolves with the first stop signal or cancellation. Later ones have no effect. */
export function awaitStopRequest(graceMs: number): Promise<StopRequest> {
  return new Promise((resolve) => {
    setHandler(stopSignal, (stop) => resolve(operatorStop(stop?.graceMs ?? graceMs)), {
      description: 'End the run: interrupt the agent, then end its sandbox after `graceMs`.',
    });
    CancellationScope.current().cancelRequested.catch(() => resolve(operatorStop(graceMs)));
  });
}

export const operatorStop = (graceMs: number): StopRequest => ({
  cause: 'terminated_by_operator',
  graceMs,
});
