import { defineSignal } from '@temporalio/workflow';

export interface StopSignalPayload {
  graceMs: number;
}

/** Without a message id, the current turn ends. */
export interface InterruptPayload {
  messageId?: string;
}

/** The number of the sandbox whose host is lost or leaves. */
export interface HostLostPayload {
  generation: number;
  /** The host is stopped, draining or lost: only a sandbox that it has not started is affected. */
  ifUnstarted?: true;
}

/**
 * The API records the cause before it sends this. Sent by hand, it counts as the operator's stop.
 */
export const stopSignal = defineSignal<[StopSignalPayload?]>('stop');

/** A message was stored in Postgres. A signal sent by hand may lack the ID. */
export const messageSignal = defineSignal<[{ messageId: string }?]>('message');
export const interruptSignal = defineSignal<[InterruptPayload?]>('interrupt');
export const hostLostSignal = defineSignal<[HostLostPayload]>('hostLost');
/** Another run or session needs the slot. */
export const sleepSignal = defineSignal('sleep');
/** The run waits for a slot no longer: Postgres has its host. */
export const slotAssignedSignal = defineSignal('slotAssigned');
