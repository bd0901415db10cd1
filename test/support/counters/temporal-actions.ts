// Temporal Cloud bills by actions (https://docs.temporal.io/cloud/actions). Those of a workflow are
// read from its history. Heartbeats and queries are actions too, but leave no event there.

import { setTimeout as sleep } from 'node:timers/promises';
import type { connectTemporal } from '../../../systems/temporal/connect.ts';

export type TemporalClient = ReturnType<typeof connectTemporal>['client'];

type History = Awaited<
  ReturnType<ReturnType<TemporalClient['workflow']['getHandle']>['fetchHistory']>
>;
type HistoryEvent = NonNullable<History['events']>[number];

interface Action {
  name: string;
  count: number;
}

/** Every action that left an event, an activity once per attempt. */
export function actionsIn(events: readonly HistoryEvent[]): Action[] {
  const activities = new Map<string, string>();
  return events.flatMap((event) => {
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) activities.set(String(event.eventId), scheduled.activityType?.name ?? '');
    const started = event.activityTaskStartedEventAttributes;
    if (started) {
      const type = activities.get(String(started.scheduledEventId)) ?? 'unknown';
      return [{ name: `activity ${type}`, count: started.attempt ?? 1 }];
    }
    return otherActionOf(event);
  });
}

function otherActionOf(event: HistoryEvent): Action[] {
  const kind = kindOf(event);
  if (withoutAction.test(kind)) return [];
  const signal = event.workflowExecutionSignaledEventAttributes?.signalName ?? '';
  const action = {
    workflowExecutionStarted: { name: 'workflow start', count: 1 },
    workflowExecutionSignaled: { name: `signal ${signal}`, count: 1 },
    timerStarted: { name: 'timer', count: 1 },
    upsertWorkflowSearchAttributes: { name: 'search attributes', count: 1 },
    markerRecorded: { name: 'marker', count: 1 },
    // The child's start is in the child's history, and is another action.
    startChildWorkflowExecutionInitiated: { name: 'child workflow', count: 1 },
    signalExternalWorkflowExecutionInitiated: { name: 'signal to a workflow', count: 1 },
    workflowExecutionUpdateAccepted: { name: 'update', count: 1 },
  }[kind];
  if (action === undefined) throw new Error(`Is the event ${kind} an action? Add it to the list.`);
  return [action];
}

const withoutAction =
  /^(?:workflowTask|activityTask|timer(?:Fired|Canceled)|workflowExecution(?:Completed|Failed|TimedOut|Canceled|Terminated|ContinuedAsNew|CancelRequested))/;

/** An event has one set of attributes, whose field is called by the kind of the event. */
function kindOf(event: HistoryEvent): string {
  const suffix = /EventAttributes$/;
  const found = Object.entries(event).find(([key, value]) => suffix.test(key) && value != null);
  return found?.[0].replace(suffix, '') ?? 'without attributes';
}

export async function readActions(client: TemporalClient, workflowId: string): Promise<Action[]> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return actionsIn(events ?? []);
}

/** Waits until the workflow has started, and neither it nor an activity of it has a task. */
export async function untilAtRest(client: TemporalClient, workflowId: string): Promise<void> {
  while (!(await isAtRest(client, workflowId))) await sleep(20);
}

/** Waits until the workflow has received the signal that often. */
export async function untilSignalled(
  client: TemporalClient,
  { workflowId, signal, times }: { workflowId: string; signal: string; times: number },
): Promise<void> {
  const isReceived = async (): Promise<boolean> => {
    const actions = await readActions(client, workflowId);
    return actions.filter(({ name }) => name === `signal ${signal}`).length >= times;
  };
  while (!(await isReceived())) await sleep(20);
}

async function isAtRest(client: TemporalClient, workflowId: string): Promise<boolean> {
  try {
    const { pendingWorkflowTask, pendingActivities } =
      await client.workflowService.describeWorkflowExecution({
        namespace: client.options.namespace,
        execution: { workflowId },
      });
    return !pendingWorkflowTask && (pendingActivities ?? []).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === grpcNotFound) return false;
    throw error;
  }
}

const grpcNotFound = 5;
