import { failpoint } from '../core/failpoint.ts';
import type { AdmissionStore } from '../systems/postgres/admission/admission.ts';
import type { EventStore } from '../systems/postgres/endpoints/event-store.ts';
import type { RunStore } from '../systems/postgres/runs/run-store.ts';
import type { WebhookStore } from '../systems/postgres/runs/webhook-store.ts';
import type { FrameStream } from '../systems/redis/frame-stream.ts';
import type { Temporal } from '../systems/temporal/client.ts';
import type { EndRunInput, EndRunResult, RunActivities } from '../workflows/shared/activities.ts';
import type { SlotAssigner } from './assign-slots.ts';
import { createBodyMemory } from './body-memory.ts';
import { attemptDelivery, type Execution, type WebhookDeps } from './deliver-webhook.ts';
import { currentExecution } from './delivery-progress.ts';
import {
  missScheduledRun,
  type ScheduleDeps,
  triggerScheduledRun,
} from './trigger-scheduled-run.ts';

export interface RunDeps extends WebhookDeps, ScheduleDeps {
  runs: Pick<RunStore, 'recordCause' | 'endRun' | 'find' | 'markWorkflowStarted'>;
  admission: Pick<AdmissionStore, 'claimSlot' | 'admitRun'>;
  webhooks: Pick<WebhookStore, 'claimAttempt' | 'recordAttempt' | 'drop'>;
  events: Pick<EventStore, 'claimAttempt' | 'recordAttempt' | 'drop'>;
  frameStream: Pick<FrameStream, 'notify' | 'expireEnded'>;
  temporal: ScheduleDeps['temporal'] & Pick<Temporal, 'cancel'>;
}

export function createRunActivities(
  deps: RunDeps,
  slots: Pick<SlotAssigner, 'assign' | 'assignFor'>,
): RunActivities {
  /** A second call changes nothing and returns the same result. */
  async function endRun(end: EndRunInput): Promise<EndRunResult> {
    const { run: _, hasWaiting, ...result } = await deps.runs.endRun(end);
    failpoint('end.committed');
    await deps.frameStream.notify(end.runId);
    await deps.frameStream.expireEnded(end.runId);
    failpoint('end.notified');
    if (hasWaiting) await slots.assign();
    return result;
  }

  const attempt = createAttempts({ ...deps, endRun });
  return {
    endRun,

    /** A second call returns the slot that the first has claimed. */
    async claimSlot({ runId, after }) {
      let claimed = await deps.admission.claimSlot(runId, after);
      if (claimed === null && (await slots.assignFor(runId))) {
        claimed = await deps.admission.claimSlot(runId, after);
      }
      if (claimed === null) return null;
      const { hostId, generation, requestId } = claimed;
      failpoint('slot.claimed');
      deps.logger.info({ runId, requestId, hostId, generation }, 'slot_claimed');
      return { hostId, generation };
    },

    /** The first recorded cause stays: a second call changes nothing. */
    async recordCause({ runId, cause, detail }) {
      await deps.runs.recordCause({ runId, cause, detail });
      failpoint('cause.recorded');
      await deps.frameStream.notify(runId);
    },

    /** A second call makes the next attempt, and not before it is due. */
    deliverWebhook: ({ runId, firstAttempt, delivery = 0 }) =>
      attempt(deps.webhooks, { id: runId, logFields: { runId }, delivery, firstAttempt }),

    ...eventActivities(deps, attempt),

    ...scheduleActivities(deps),

    /** A second call changes nothing, and neither does a call after the delivery. */
    async dropWebhook({ runId }) {
      await deps.webhooks.drop(runId);
      failpoint('webhook.dropped');
    },

    /** A second call changes nothing. */
    cancelWorkflow: ({ workflowId }) => deps.temporal.cancel(workflowId),
  };
}

interface DeliveryAttempt extends Pick<Execution, 'id' | 'logFields' | 'delivery'> {
  firstAttempt: number;
}

type Attempt = (
  webhooks: WebhookDeps['webhooks'],
  delivery: DeliveryAttempt,
) => Promise<{ status: number | null }>;

function createAttempts(deps: RunDeps & Pick<RunActivities, 'endRun'>): Attempt {
  const bodyMemory = createBodyMemory();
  return (webhooks, { firstAttempt, ...delivery }) => {
    const execution = currentExecution(firstAttempt);
    const memory = bodyMemory(execution.taskQueue);
    return attemptDelivery({ ...deps, webhooks }, { ...delivery, memory, ...execution });
  };
}

function eventActivities(
  { events }: Pick<RunDeps, 'events'>,
  attempt: Attempt,
): Pick<RunActivities, 'deliverEvent' | 'dropEvent'> {
  return {
    /** A second call makes the next attempt, and not before it is due. */
    deliverEvent: ({ eventId, delivery }) =>
      attempt(events, { id: eventId, logFields: { eventId }, delivery, firstAttempt: 1 }),

    /** A second call changes nothing, and neither does a call after the delivery. */
    dropEvent: ({ eventId }) => events.drop(eventId),
  };
}

function scheduleActivities(
  deps: ScheduleDeps,
): Pick<RunActivities, 'triggerScheduledRun' | 'missScheduledRun'> {
  return {
    /** A second call finds the run admitted and starts it if it has not started. */
    triggerScheduledRun: (start) => triggerScheduledRun(deps, start),

    /** A second call changes nothing. */
    missScheduledRun: (start) => missScheduledRun(deps, start),
  };
}
