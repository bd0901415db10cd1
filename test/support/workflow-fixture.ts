import { randomUUID } from 'node:crypto';
import { Context, heartbeat } from '@temporalio/activity';
import {
  Client,
  Connection,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import { defineSearchAttributeKey } from '@temporalio/common';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { noEndCause } from '../../core/temporal/search-attribute-names.ts';
import {
  followQueue,
  hostQueue,
  runQueue,
  webhookBacklogQueue,
  webhookQueue,
} from '../../core/temporal/task-queues.ts';
import type { runWorkflow } from '../../workflows/run/run-workflow.ts';
import type { scheduledTriggerWorkflow } from '../../workflows/schedule/scheduled-trigger-workflow.ts';
import type { sessionWorkflow } from '../../workflows/session/session-workflow.ts';
import type { Activities } from '../../workflows/shared/activities.ts';
import type { RunInput, SessionInput } from '../../workflows/shared/inputs.ts';
import type { webhookWorkflow } from '../../workflows/webhook/webhook-workflow.ts';
import { stackEnv } from './stack-env.ts';
import { ensureTemporalRuntime } from './temporal-runtime.ts';
import { testBundle } from './test-bundle.ts';

export type RunHandle = WorkflowHandle<typeof runWorkflow>;
export type SessionHandle = WorkflowHandleWithFirstExecutionRunId<typeof sessionWorkflow>;

/** Real Temporal, real workflows and one host. Each run has its own fake activities. */
export interface WorkflowFixture {
  client: Client;
  instance: string;
  hostId: string;
  /** Sets the activities of a run that is started elsewhere, or of a flow's schedule. */
  serve(runId: string, activities: Activities): void;
  startRun(activities: Activities, input?: Partial<RunInput>): Promise<RunHandle>;
  startSession(activities: Activities, input?: Partial<SessionInput>): Promise<SessionHandle>;
  startWebhook(
    activities: Activities,
    firstAttempt?: number,
  ): Promise<WorkflowHandle<typeof webhookWorkflow>>;
  /** Runs one tick of a schedule. */
  startScheduled(activities: Activities): Promise<WorkflowHandle<typeof scheduledTriggerWorkflow>>;
  /** Runs `work` while no workflow proceeds. Its effects are in one workflow task. */
  betweenTasks(work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

export async function createWorkflowFixture(
  instance = `t${randomUUID().slice(0, 8)}`,
): Promise<WorkflowFixture> {
  const hostId = 'host-1';
  const fakes = new Map<string, Activities>();
  const address = stackEnv.temporalAddress;
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, identity: 'test' });
  const workers = await startWorkers({ address, instance, hostId, fakes, client });

  const begin = (activities: Activities): string => {
    const runId = randomUUID();
    fakes.set(runId, activities);
    return runId;
  };
  return {
    client,
    instance,
    hostId,
    serve: (runId, activities) => void fakes.set(runId, activities),
    startRun: (activities, input = {}) => {
      const runId = begin(activities);
      return client.workflow.start<typeof runWorkflow>('runWorkflow', {
        workflowId: `run/${runId}`,
        taskQueue: runQueue(instance),
        args: [{ ...emptyInput, runId, instance, hostId, ...input }],
        typedSearchAttributes: asStarted,
      });
    },
    startSession: (activities, input = {}) => {
      const runId = begin(activities);
      const { projectId, flowId, timeouts } = emptyInput;
      return client.workflow.start<typeof sessionWorkflow>('sessionWorkflow', {
        workflowId: `session/${runId}`,
        taskQueue: runQueue(instance),
        args: [{ runId, projectId, flowId, instance, timeouts, ...input }],
        typedSearchAttributes: asStarted,
      });
    },
    startWebhook: (activities, firstAttempt = 1) => {
      const runId = begin(activities);
      return client.workflow.start<typeof webhookWorkflow>('webhookWorkflow', {
        workflowId: `webhook/${runId}/1`,
        taskQueue: runQueue(instance),
        args: [{ runId, instance, firstAttempt }],
      });
    },
    startScheduled: (activities) => {
      const flowId = begin(activities);
      return client.workflow.start<typeof scheduledTriggerWorkflow>('scheduledTriggerWorkflow', {
        workflowId: `schedule/${flowId}`,
        taskQueue: runQueue(instance),
        args: [{ flowId, instance }],
      });
    },
    betweenTasks: workers.betweenTasks,
    close: async () => {
      await workers.stop();
      await connection.close();
    },
  };
}

/** The search attributes of the API's start options that the workflows read. */
const asStarted = [
  { key: defineSearchAttributeKey('RunStatus', 'KEYWORD'), value: 'running' },
  { key: defineSearchAttributeKey('EndCause', 'KEYWORD'), value: noEndCause },
];

const emptyInput = {
  projectId: 'project-1',
  flowId: '00000000-0000-4000-8000-000000000001',
  generation: 1,
  timeouts: {},
};

interface Site {
  address: string;
  instance: string;
  hostId: string;
  fakes: Map<string, Activities>;
  client: Client;
}

async function startWorkers(site: Site) {
  const { address, instance, hostId } = site;
  ensureTemporalRuntime();
  const connection = await NativeConnection.connect({ address });
  const workflowBundle = await testBundle();
  const activities = dispatchByRun(site);
  const common = { connection, identity: 'test' };
  const taskQueue = runQueue(instance);
  const startWorkflows = () => startWorker({ ...common, taskQueue, workflowBundle });
  const queues = [
    taskQueue,
    webhookQueue(instance),
    webhookBacklogQueue(instance),
    hostQueue(instance, hostId),
    followQueue(instance, hostId),
  ];
  const others = await Promise.all(
    queues.map((queue) => startWorker({ ...common, taskQueue: queue, activities })),
  );
  let workflows = await startWorkflows();
  return {
    async betweenTasks(work: () => Promise<void>): Promise<void> {
      await workflows.stop();
      await work();
      workflows = await startWorkflows();
    },
    stop: async () => {
      await Promise.all([workflows, ...others].map((worker) => worker.stop()));
      await connection.close();
    },
  };
}

async function startWorker(options: WorkerOptions): Promise<{ stop(): Promise<void> }> {
  const worker = await Worker.create(options);
  const running = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await running;
    },
  };
}

const names = [
  'claimSlot',
  'recordCause',
  'endRun',
  'deliverWebhook',
  'dropWebhook',
  'deliverEvent',
  'dropEvent',
  'claimSessionSlot',
  'failTurn',
  'getSessionIdleness',
  'runTurn',
  'interruptTurn',
  'triggerScheduledRun',
  'missScheduledRun',
  'cancelWorkflow',
  'startSandbox',
  'followRun',
  'stopSandbox',
  'snapshotWorkspace',
  'removeSandbox',
] as const satisfies readonly (keyof Activities)[];

function dispatchByRun({ fakes, client }: Site) {
  return Object.fromEntries(
    names.map((name) => [
      name,
      async (input: never) => {
        const { runId, flowId, eventId } = input as Record<string, string | undefined>;
        const fake = fakes.get(runId ?? eventId ?? '') ?? fakes.get(flowId ?? '');
        if (!fake) throw new Error(`no activities for run ${runId}`);
        const timer = setInterval(heartbeat, 1_000);
        try {
          const result = await Promise.race([fake[name](input), Context.current().cancelled]);
          if (name === 'cancelWorkflow') await cancelExecution(client);
          return result;
        } finally {
          clearInterval(timer);
        }
      },
    ]),
  );
}

/** Of the workflow that calls the activity. */
async function cancelExecution(client: Client): Promise<void> {
  const { workflowExecution } = Context.current().info;
  await client.workflow.getHandle(workflowExecution?.workflowId ?? '').cancel();
}
