import { CancellationScope, setHandler } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { stopSignal } from './signals.ts';

/** Somebody wants the run to end. The cause counts only where none was recorded before. */
export interface StopRequest {
  cause: EndCause;
  graceMs: number;
}

/** The first order: a stop signal, or a cancellation by an operator. Later ones change nothing. */
export function awaitStopRequest(graceMs: number): Promise<StopRequest> {
  return new Promise((resolve) => {
    setHandler(stopSignal, (stop) => resolve(operatorStop(stop.graceMs)), {
      description: 'End the run: interrupt the agent, then end its sandbox after `graceMs`.',
    });
    CancellationScope.current().cancelRequested.catch(() => resolve(operatorStop(graceMs)));
  });
}

const operatorStop = (graceMs: number): StopRequest => ({
  cause: 'terminated_by_operator',
  graceMs,
});
