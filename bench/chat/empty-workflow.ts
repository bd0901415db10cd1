import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

/** A session workflow reduced to its signal: each signal runs one activity, which does nothing. */
export async function emptyTurns({ activityQueue }: { activityQueue: string }): Promise<never> {
  let pending = 0;
  setHandler(defineSignal('message'), () => {
    pending += 1;
  });
  const { doNothing } = proxyActivities<{ doNothing(): Promise<void> }>({
    taskQueue: activityQueue,
    startToCloseTimeout: '10s',
  });
  for (;;) {
    await condition(() => pending > 0);
    pending -= 1;
    await doNothing();
  }
}
