import { failpoint } from '../../core/failpoint.ts';
import { startChannel, startSubject } from '../../core/hosts/host-rpc.ts';
import type { ApiDeps } from '../deps.ts';

type WakeDeps = Pick<ApiDeps, 'messages' | 'notifications' | 'isTemporalReachable'>;

/** Each of them may wait for the placement lock, and needs a connection meanwhile. */
const inFlightMax = 4;

/**
 * Assigns a host to a sleeping session, and notifies the host to start the sandbox. Beyond the
 * limit, and while Temporal does not answer, this is left to the session's workflow.
 */
export function createWakeByHint(deps: WakeDeps): (runId: string) => Promise<void> {
  let inFlight = 0;
  return async (runId) => {
    if (inFlight >= inFlightMax || !deps.isTemporalReachable()) return;
    inFlight += 1;
    try {
      const assigned = await deps.messages.wakeSession(runId);
      if (assigned === null) return;
      failpoint('wake.assigned');
      const { hostId, generation } = assigned;
      deps.notifications.notify(startChannel(hostId), startSubject({ runId, generation }));
    } finally {
      inFlight -= 1;
    }
  };
}
