import { NativeConnection, type NativeConnectionOptions, Worker } from '@temporalio/worker';
import { limits } from '../../core/limits.ts';
import {
  followQueue,
  hostQueue,
  runQueue,
  webhookBacklogQueue,
  webhookQueue,
} from '../../core/temporal/task-queues.ts';
import type {
  HostActivities,
  RunActivities,
  SessionActivities,
} from '../../workflows/shared/activities.ts';
import { type SanitizeDeps, sanitizeErrors } from './sanitize-errors.ts';

export interface WorkerOptions extends SanitizeDeps {
  instance: string;
  hostId: string;
  /** How many sandboxes this host may run. */
  capacity: number;
  namespace: string;
  connection: NativeConnectionOptions;
  workflowBundle: { codePath: string };
  activities: { run: RunActivities & SessionActivities; host: HostActivities };
  /** Called once the connection is accepted. If it rejects, nothing is polled. */
  beforePolling(): Promise<void>;
}

export interface RunningWorker {
  /** Settles when polling has ended. Rejects if it ended with an error. */
  stopped: Promise<void>;
  /** Abandons running activities and stops polling. Safe to repeat. */
  stop(): void;
}

/** In addition to one per sandbox, because a start may wait for others, and a stop must not. */
const spareHostSlots = 100;
/** A retried attempt may overlap with the previous one, which has not noticed its timeout yet. */
const spareFollowSlots = 20;

/**
 * Polls five queues: shared activities, webhooks (so that slow receivers delay nothing else),
 * webhooks of projects with many undelivered ones (so that these delay no other project), this
 * host's activities, and following its runs, which needs a slot per sandbox. Safe to retry: a
 * failed call releases everything it acquired.
 */
export async function createWorker(options: WorkerOptions): Promise<RunningWorker> {
  const { namespace, beforePolling } = options;
  // The first contact with Temporal: only this client's errors say why it rejects a certificate.
  const connection = await NativeConnection.connect(options.connection);
  try {
    // A worker that fails after these two keeps its threads until the process ends.
    await connection.workflowService.describeNamespace({ namespace });
    await beforePolling();
  } catch (error) {
    await connection.close();
    throw error;
  }
  const interceptors = { activity: [sanitizeErrors(options)] };
  const common = { connection, namespace, interceptors, ...workerTimes };
  const created = await Promise.allSettled(
    queuesOf(options).map((own) => Worker.create({ ...common, ...own })),
  );
  const running = run(
    created.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    connection,
  );
  const failed = created.find((one) => one.status === 'rejected');
  if (failed === undefined) return running;
  running.stop();
  await running.stopped.catch(() => undefined); // the error below says more
  throw failed.reason;
}

function queuesOf({ instance, hostId, capacity, activities, workflowBundle }: WorkerOptions) {
  const { followRun, runTurn, ...shortHostActivities } = activities.host;
  const { deliverWebhook, deliverEvent, ...shortRunActivities } = activities.run;
  const inBacklog = { deliverWebhook, deliverEvent };
  return [
    { taskQueue: runQueue(instance), activities: shortRunActivities, workflowBundle },
    queue(webhookQueue(instance), { deliverWebhook }, limits.webhook.slots),
    queue(webhookBacklogQueue(instance), inBacklog, limits.webhook.backlogSlots),
    queue(hostQueue(instance, hostId), shortHostActivities, capacity + spareHostSlots),
    queue(followQueue(instance, hostId), { followRun, runTurn }, capacity + spareFollowSlots),
  ];
}

const queue = (taskQueue: string, activities: object, slots: number) => ({
  taskQueue,
  activities,
  maxConcurrentActivityTaskExecutions: slots,
});

const workerTimes = {
  // After a worker's death another one takes over its workflows soon.
  stickyQueueScheduleToStartTimeout: '2s',
  // Activities heartbeat every 3 s. With the default, only every third heartbeat would be sent.
  maxHeartbeatThrottleInterval: '3s',
  shutdownGraceTime: 0,
  // Waits for webhook attempts in progress: an unrecorded attempt would be repeated.
  shutdownForceTime: limits.webhook.attemptTimeoutMs + 3_000,
} as const;

function run(workers: Worker[], connection: NativeConnection): RunningWorker {
  const stop = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run());
  // If one fails, the others stop, too. Otherwise half a worker would look healthy.
  for (const one of runs) one.catch(stop);
  const stopped = Promise.allSettled(runs).then(async (ends) => {
    await connection.close();
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  });
  return { stop, stopped };
}
