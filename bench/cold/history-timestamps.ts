import { connectTemporal } from '../../systems/temporal/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

/** Times of a run in Temporal, from the history of the run's workflow. */
export async function historyTimestamps(runId: string) {
  const events = await historyOf(`run/${runId}`);
  const first = (kind: keyof HistoryEvent): number => {
    const found = events.find((event) => event[kind] != null);
    if (found === undefined) throw new Error(`the history of run ${runId} has no ${kind}`);
    return millisecondsOf(found);
  };
  return {
    taskStarted: first('workflowTaskStartedEventAttributes'),
    activityScheduled: first('activityTaskScheduledEventAttributes'),
    activityStarted: first('activityTaskStartedEventAttributes'),
  };
}

export async function historyOf(workflowId: string): Promise<HistoryEvent[]> {
  const { client, close } = connectTemporal({
    namespace: 'default',
    connection: { address: stackEnv.temporalAddress },
  });
  const history = await client.workflow.getHandle(workflowId).fetchHistory();
  await close();
  return history.events ?? [];
}

type History = Awaited<
  ReturnType<
    ReturnType<
      ReturnType<typeof connectTemporal>['client']['workflow']['getHandle']
    >['fetchHistory']
  >
>;
export type HistoryEvent = NonNullable<History['events']>[number];

export function millisecondsOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? Number.NaN) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
