import type { ReconcilerDeps } from '../deps.ts';
import { stepDeadline } from '../step-deadline.ts';

/**
 * Starts a workflow for each pending event for an endpoint. Safe to repeat: there is at most one
 * such workflow per delivery. An event whose workflow has ended is dropped: it was delivered or
 * dropped before, and a restore of the database has lost the outcome.
 */
export async function startEvents({
  events,
  temporal,
  logger,
}: Pick<ReconcilerDeps, 'events' | 'temporal' | 'logger'>): Promise<void> {
  const deadline = stepDeadline();
  const left: string[] = [];
  for (const { eventId, requestId, delivery } of await events.takeDue()) {
    if (deadline.isOver()) {
      left.push(eventId);
      continue;
    }
    try {
      const outcome = await temporal.startEvent({ eventId, delivery });
      if (outcome === 'already') await events.drop(eventId);
      logger.info({ eventId, requestId, delivery, outcome }, 'event_started');
    } catch (err) {
      left.push(eventId);
      logger.warn({ err, eventId, requestId, delivery }, 'event_start_failed');
    }
  }
  if (left.length > 0) await events.returnDue(left);
}
