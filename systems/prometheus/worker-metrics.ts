import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type MissedStartReason, missedStartReasons } from '../../core/flows/missed-starts.ts';
import { endCauses } from '../../core/runs/end-cause.ts';
import { createLabeledCounter } from './labeled-counter.ts';
import { createModelMetrics } from './model-metrics.ts';
import {
  type CountedPool,
  callSeconds,
  createLogMetrics,
  createRegistry,
  exportPools,
  runSeconds,
  waitSeconds,
} from './process-metrics.ts';
import { type MetricsAddress, serveMetrics } from './server.ts';

/** All metrics of a worker process; Temporal's SDK serves its own at another address. */
export function createWorkerMetrics() {
  const registry = createRegistry();
  return {
    ...createRunMetrics(registry),
    ...createFrameMetrics(registry),
    ...createSandboxMetrics(registry),
    ...createWebhookMetrics(registry),
    ...createScheduleMetrics(registry),
    ...createModelMetrics(registry),
    ...createLogMetrics(registry),
    watch({ pools, ...slots }: { pools: readonly CountedPool[] } & HostSlots): void {
      exportPools(registry, pools);
      exportSlots(registry, slots);
    },
    serve: (at: MetricsAddress) => serveMetrics(registry, at),
  };
}

/** Each event is counted by the process that caused it. */
function createRunMetrics(registry: Registry) {
  const registers = [registry];
  const queueTimes = new Histogram({
    name: 'flowrun_run_queue_seconds',
    help: 'From the admission of a run to the start of its agent.',
    buckets: waitSeconds,
    registers,
  });
  const durations = new Histogram({
    name: 'flowrun_run_duration_seconds',
    help: 'From the start of a run to its end.',
    buckets: runSeconds,
    registers,
  });
  const ends = createLabeledCounter(registry, {
    name: 'flowrun_runs_ended_total',
    help: 'Runs and sessions that have ended, by cause.',
    label: 'cause',
    values: endCauses,
  });
  const messageQueueTimes = new Histogram({
    name: 'flowrun_message_queue_seconds',
    help: 'From the arrival of a message to its delivery to the agent.',
    buckets: waitSeconds,
    registers,
  });

  return {
    runStarted: (waitedMs: number): void => queueTimes.observe(waitedMs / 1_000),
    runEnded(cause: string, ranMs: number | null): void {
      ends.inc({ cause });
      if (ranMs !== null) durations.observe(ranMs / 1_000);
    },
    turnStarted: (waitedMs: number): void => messageQueueTimes.observe(waitedMs / 1_000),
  };
}

const publishOutcomes = ['buffered', 'rejected', 'failed'] as const;

/** Counted per batch, never per frame. */
function createFrameMetrics(registry: Registry) {
  const registers = [registry];
  const frames = new Counter({
    name: 'flowrun_frames_total',
    help: 'Frames stored.',
    registers,
  });
  const bytes = new Counter({
    name: 'flowrun_output_bytes_total',
    help: 'Bytes of agent output read and stored.',
    registers,
  });
  const commits = new Histogram({
    name: 'flowrun_frame_commit_seconds',
    help: 'How long storing a batch of frames took.',
    buckets: callSeconds,
    registers,
  });
  const publications = createLabeledCounter(registry, {
    name: 'flowrun_publications_total',
    help: 'Batches of frames published to readers. rejected: Redis had no memory to buffer it. failed: Redis did not answer.',
    label: 'outcome',
    values: publishOutcomes,
  });
  return {
    batchPublished: (outcome: (typeof publishOutcomes)[number]): void =>
      publications.inc({ outcome }),
    batchStored(batch: { frames: number; bytes: number; tookMs: number }): void {
      frames.inc(batch.frames);
      bytes.inc(batch.bytes);
      commits.observe(batch.tookMs / 1_000);
    },
  };
}

const controlRefusals = ['rate', 'concurrency', 'unread'] as const;
const startOutcomes = ['started', 'cancelled', 'superseded', 'failed'] as const;

function createSandboxMetrics(registry: Registry) {
  const starts = new Histogram({
    name: 'flowrun_sandbox_start_seconds',
    help: 'How long starting a sandbox took, including the wait for other starts. cancelled: its run had ended meanwhile. superseded: its run had moved to another host.',
    labelNames: ['outcome'],
    buckets: waitSeconds,
    registers: [registry],
  });
  for (const outcome of startOutcomes) starts.zero({ outcome });
  const startWaits = new Histogram({
    name: 'flowrun_sandbox_start_wait_seconds',
    help: 'How long the start of a sandbox waited for other starts on this host.',
    buckets: waitSeconds,
    registers: [registry],
  });
  const refusals = createLabeledCounter(registry, {
    name: 'flowrun_control_requests_refused_total',
    help: 'Requests of sandboxes to this worker that were refused. rate: too many in a short time. concurrency: too many at a time. unread: answers were not read.',
    label: 'reason',
    values: controlRefusals,
  });
  return {
    controlRefused: (reason: (typeof controlRefusals)[number]): void => refusals.inc({ reason }),
    sandboxStart: (outcome: (typeof startOutcomes)[number], tookMs: number): void =>
      starts.observe({ outcome }, tookMs / 1_000),
    sandboxStartWait: (waitedMs: number): void => startWaits.observe(waitedMs / 1_000),
  };
}

interface HostSlots {
  capacity: number;
  countSandboxes: () => number;
  countWaitingStarts: () => number;
}

function exportSlots(
  registry: Registry,
  { capacity, countSandboxes, countWaitingStarts }: HostSlots,
): void {
  const gauges = [
    {
      name: 'flowrun_sandboxes',
      help: 'Sandboxes that this host supervises.',
      read: countSandboxes,
    },
    {
      name: 'flowrun_sandbox_starts_waiting',
      help: 'Starts of sandboxes that wait for other starts on this host.',
      read: countWaitingStarts,
    },
    {
      name: 'flowrun_host_slots',
      help: 'Sandboxes that this host can run at once.',
      read: () => capacity,
    },
  ];
  for (const { name, help, read } of gauges) {
    const collect = function (this: Gauge): void {
      this.set(read());
    };
    registry.registerMetric(new Gauge({ name, help, registers: [], collect }));
  }
}

function createScheduleMetrics(registry: Registry) {
  const missed = createLabeledCounter(registry, {
    name: 'flowrun_scheduled_starts_missed_total',
    help: 'Scheduled starts without a run. late: the run could not be started in time. Other reasons: the code of the rejection.',
    label: 'reason',
    values: missedStartReasons,
  });
  return {
    scheduledStartsMissed: (reason: MissedStartReason, count: number): void =>
      missed.inc({ reason }, count),
  };
}

const attemptOutcomes = ['delivered', 'rejected', 'failed', 'blocked'] as const;

/** `rejected`: an error response; `failed`: no response; `blocked`: the address is not allowed. */
type AttemptOutcome = (typeof attemptOutcomes)[number];

function createWebhookMetrics(registry: Registry) {
  const attempts = new Histogram({
    name: 'flowrun_webhook_attempt_seconds',
    help: 'Attempts to deliver a webhook, by outcome.',
    labelNames: ['outcome'],
    buckets: callSeconds,
    registers: [registry],
  });
  for (const outcome of attemptOutcomes) attempts.zero({ outcome });
  return {
    webhookAttempt: (outcome: AttemptOutcome, tookMs: number): void =>
      attempts.observe({ outcome }, tookMs / 1_000),
  };
}
