import { errorOf, type RunEnd } from '../runs/end-cause.ts';

const prefix = 'the run ended: ';

/** The message of a failed workflow: the `error` of its run record. */
export const runFailureMessage = (end: RunEnd): string => `${prefix}${errorOf(end)}`;

/** Whether a workflow failed because its run did, and not by an error of the service. */
export const isRunFailure = (message: string): boolean => message.startsWith(prefix);
