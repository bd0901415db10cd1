import { type HistoryEvent, historyOf, millisecondsOf } from '../cold/history-timestamps.ts';

/** Times of a session's latest turn in Temporal, from the history of the session's workflow. */
export async function signalTimestamps(runId: string) {
  const events = await historyOf(`session/${runId}`);
  const signal = events.findLastIndex((event) => event.workflowExecutionSignaledEventAttributes);
  const since = events.slice(signal);
  const first = (kind: keyof HistoryEvent): number => {
    const found = since.find((event) => event[kind] != null);
    if (found === undefined) throw new Error(`the turn's history has no ${kind}`);
    return millisecondsOf(found);
  };
  return {
    signalled: first('workflowExecutionSignaledEventAttributes'),
    taskStarted: first('workflowTaskStartedEventAttributes'),
    activityScheduled: first('activityTaskScheduledEventAttributes'),
    activityStarted: first('activityTaskStartedEventAttributes'),
  };
}
