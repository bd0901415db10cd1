import type { AdmissionRejection } from '../systems/postgres/admission/admission.ts';
import type { StoredMessage } from '../systems/postgres/sessions/store-message.ts';
import type { ErrorCode } from './errors.ts';

/** The metrics that the API reports, independent of the library that collects them. */
export interface ApiMetrics {
  answered: (request: {
    method: string;
    /** The route's pattern; null for an unknown path. */
    route: string | null;
    status: number;
    code: ErrorCode | null;
    /** Null if the duration does not measure the service. */
    seconds: number | null;
  }) => void;
  runDecided: (outcome: 'admitted' | 'replay' | AdmissionRejection['reason']) => void;
  messageDecided: (outcome: 'stored' | 'known' | MessageRejection) => void;
  streamOpened: () => void;
  streamClosed: () => void;
}

type MessageRejection = Extract<StoredMessage, { outcome: 'rejected' }>['reason'];

export const noopMetrics: ApiMetrics = {
  answered: () => undefined,
  runDecided: () => undefined,
  messageDecided: () => undefined,
  streamOpened: () => undefined,
  streamClosed: () => undefined,
};
