import { condition, setHandler } from '@temporalio/workflow';
import { slotAssignedSignal } from './signals.ts';

/** How many signals that a slot was assigned have arrived. */
export interface SlotSignals {
  count: number;
}

export function listenForSlots(): SlotSignals {
  const signals: SlotSignals = { count: 0 };
  setHandler(
    slotAssignedSignal,
    () => {
      signals.count += 1;
    },
    { description: 'A slot was assigned. The next claim returns it.' },
  );
  return signals;
}

interface Wait {
  signals: SlotSignals;
  noCapacityMs: number;
  isStopped: () => boolean;
}

/**
 * Claims a slot. A claim without one puts the run into the queue, so the next claim follows only
 * after a signal. The last one follows at the timeout, in case the signal was lost. Null if there
 * was no slot until then, and after a stop request.
 */
export async function waitForSlot<S>(
  claim: () => Promise<S | null>,
  { signals, noCapacityMs, isStopped }: Wait,
): Promise<S | null> {
  const endsAt = Date.now() + noCapacityMs;
  while (!isStopped()) {
    const seen = signals.count;
    const slot = await claim();
    const leftMs = endsAt - Date.now();
    if (slot !== null || leftMs <= 0) return slot;
    await condition(() => signals.count > seen || isStopped(), leftMs, untilAssigned);
  }
  return null;
}

const untilAssigned = { summary: 'until a slot is assigned' };
