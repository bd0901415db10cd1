import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

/** A session's workflow without the session: for each signal one activity, which does nothing. */
export async function emptyTurns({ activityQueue }: { activityQueue: string }): Promise<never> {
  let due = 0;
  setHandler(defineSignal('message'), () => {
    due += 1;
  });
  const { doNothing } = proxyActivities<{ doNothing(): Promise<void> }>({
    taskQueue: activityQueue,
    startToCloseTimeout: '10s',
  });
  for (;;) {
    await condition(() => due > 0);
    due -= 1;
    await doNothing();
  }
}
