import { NativeConnection, type NativeConnectionOptions, Worker } from '@temporalio/worker';
import { limits } from '../../core/limits.ts';
import { followQueue, hostQueue, runQueue, webhookQueue } from '../../core/temporal/task-queues.ts';
import type {
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../../workflows/shared/activities.ts';

export interface WorkerOptions {
  instance: string;
  hostId: string;
  /** How many sandboxes this host may hold. */
  capacity: number;
  namespace: string;
  connection: NativeConnectionOptions;
  workflowBundle: { codePath: string };
  activities: { run: RunActivities & SessionActivities; host: HostActivities };
}

export interface RunningWorker {
  /** Settles when polling has ended; rejects where it ended by itself. */
  stopped: Promise<void>;
  /** Lets go of everything that is under way and stops asking for more. Safe to repeat. */
  stop(): void;
}

const hostSlots = 100;
const webhookSlots = 100;
/** Attempts that are being taken over may overlap with those that have not noticed yet. */
const spareWatchSlots = 20;

/**
 * Four queues: what any worker can do, webhooks (slow receivers hold up nobody), what only this
 * host can do, and the following of its runs, which takes as many slots as there are sandboxes.
 * It may be asked for again and again until Temporal has everything: a call that fails leaves nothing.
 */
export async function createWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { namespace } = options;
  const connection = await NativeConnection.connect(options.connection);
  try {
    // A worker that is refused later than this keeps its threads for as long as the process lives.
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    await connection.close();
    throw error;
  }
  const common = { connection, namespace, ...workerTimes };
  const made = await Promise.allSettled(
    queuesOf(options).map((own) => Worker.create({ ...common, ...own })),
  );
  const running = run(
    made.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    connection,
  );
  const refused = made.find((one) => one.status === 'rejected');
  if (refused === undefined) return running;
  running.stop();
  await running.stopped.catch(() => undefined); // less than why there are not all of them
  throw refused.reason;
}

function queuesOf({ instance, hostId, capacity, activities, workflowBundle }: WorkerOptions) {
  const { followRun, runTurn, ...hostBriefs } = activities.host;
  const { deliverWebhook, ...runBriefs } = activities.run;
  return [
    { taskQueue: runQueue(instance), activities: runBriefs, workflowBundle },
    queue(webhookQueue(instance), { deliverWebhook }, webhookSlots),
    queue(hostQueue(instance, hostId), hostBriefs, hostSlots),
    queue(followQueue(instance, hostId), { followRun, runTurn }, capacity + spareWatchSlots),
  ];
}

const queue = (taskQueue: string, activities: object, slots: number) => ({
  taskQueue,
  activities,
  maxConcurrentActivityTaskExecutions: slots,
});

const workerTimes = {
  // After a worker's death its workflows go to another one soon.
  stickyQueueScheduleToStartTimeout: '2s',
  // Heartbeats of 3 s against a time-out of 10: the default would keep back all but every third.
  maxHeartbeatThrottleInterval: '3s',
  shutdownGraceTime: 0,
  // A webhook that is under way is waited for: of an attempt that nobody notes another is made.
  shutdownForceTime: limits.webhookAttemptTimeoutMs + 3_000,
} as const;

function run(workers: Worker[], connection: NativeConnection): RunningWorker {
  const stop = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run());
  // One that fails takes the others with it: half a worker would look alive.
  for (const one of runs) one.catch(stop);
  const stopped = Promise.allSettled(runs).then(async (ends) => {
    await connection.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  });
  return { stop, stopped };
}
