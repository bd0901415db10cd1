import { connectTemporal } from '../../systems/temporal/connect.ts';
import { stackEnv } from '../../test/support/stack-env.ts';

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
type HistoryEvent = NonNullable<History['events']>[number];
