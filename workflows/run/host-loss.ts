import { setHandler } from '@temporalio/workflow';
import { hostLostSignal } from '../shared/signals.ts';

/** Sandboxes up to this number are on hosts that are stopped, draining or lost; 0 if none is. */
export interface HostLoss {
  throughGeneration: number;
}

/** A signal that arrives after the sandbox was started has no effect. */
export function listenForHostLoss(): HostLoss {
  const loss: HostLoss = { throughGeneration: 0 };
  setHandler(
    hostLostSignal,
    ({ generation }) => {
      loss.throughGeneration = Math.max(loss.throughGeneration, generation);
    },
    { description: 'The host is stopped, draining or lost. Start the sandbox on another host.' },
  );
  return loss;
}
