import { limits } from '../../../core/limits.ts';
import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';

type EventDeps = Pick<ReconcilerDeps, 'events' | 'temporal' | 'logger'>;
type DueEvent = Awaited<ReturnType<ReconcilerDeps['events']['takeDue']>>[number];

/**
 * Starts a workflow for each pending event for an endpoint. Safe to repeat: there is at most one
 * such workflow per delivery. After as many events as a project may have in progress, more may be
 * due, because some of these have been delivered meanwhile.
 */
export async function startEvents(deps: EventDeps): Promise<void> {
  const deadline = stepDeadline();
  let taken: DueEvent[];
  do {
    taken = await deps.events.takeDue();
    await startTaken(deps, taken, deadline);
  } while (taken.length >= limits.webhook.eventsInProgress && !deadline.isOver());
}

async function startTaken(
  deps: EventDeps,
  taken: DueEvent[],
  deadline: ReturnType<typeof stepDeadline>,
): Promise<void> {
  const { events, logger } = deps;
  const left: string[] = [];
  for (const due of taken) {
    const { eventId, requestId, delivery } = due;
    if (deadline.isOver()) {
      left.push(eventId);
      continue;
    }
    try {
      const outcome = await startDelivery(deps, due);
      logger.info({ eventId, requestId, delivery, outcome }, 'event_started');
    } catch (err) {
      left.push(eventId);
      logger.warn({ err, eventId, requestId, delivery }, 'event_start_failed');
    }
  }
  if (left.length > 0) await events.returnDue(left);
}

/**
 * If the workflow of a pending event has ended, a restore of the database has lost its outcome. A
 * redelivery may have been requested after the restore with a number that was used before, so it is
 * made again with the next number.
 */
async function startDelivery(
  { events, temporal }: EventDeps,
  { eventId, delivery }: DueEvent,
): Promise<string> {
  const outcome = await temporal.startEvent({ eventId, delivery });
  if (outcome === 'started') return outcome;
  if (delivery > 0) {
    await events.renumber(eventId, delivery);
    return 'renumbered';
  }
  await (outcome === 'delivered' ? events.markDelivered(eventId) : events.drop(eventId));
  return outcome;
}
