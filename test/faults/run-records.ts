// Collects what every component has recorded about a run, for the checks of its invariants.

import { existsSync } from 'node:fs';
import type { EndCause, FinishedReason } from '../../core/runs/end-cause.ts';
import type { Run } from '../../core/runs/run.ts';
import { createSealer } from '../../systems/postgres/admission/seal.ts';
import { createRunStore } from '../../systems/postgres/runs/run-store.ts';
import { createTemporal, type WorkflowState } from '../../systems/temporal/client.ts';
import { foldersOf } from '../../worker/sandbox/sandbox-paths.ts';
import type { Service } from '../support/service.ts';
import type { ReceivedPost } from '../support/webhook-receiver.ts';
import { causesOf } from './support/cause-watch.ts';
import type { ContainerHistory } from './support/container-watch.ts';
import type { Transcript } from './support/transcript.ts';

export interface LoggedFrame {
  seq: number;
  event: string;
  data: string;
}

interface LogHead {
  lastSeq: number;
  isFinal: boolean;
  leaseOwner: string | null;
}

interface AttemptRow {
  delivery: number;
  attempt: number;
  status: number | null;
}

/** The records about one run after its end. */
export interface RunRecords {
  run: Run;
  occupiesSlot: boolean;
  /** Every cause that was ever recorded for the run, in order. */
  causes: EndCause[];
  /** Whether its end has a webhook. */
  wantsWebhook: boolean;
  webhookBody: string | null;
  deliveryId: string | null;
  logHead: LogHead;
  log: LoggedFrame[];
  transcripts: Transcript[];
  /** The reason that a reader of the stream receives at the end. */
  reason?: FinishedReason;
  posts: ReceivedPost[];
  /** The receiver rejects every attempt. */
  isWebhookRejected: boolean;
  attempts: AttemptRow[];
  /** Ids of containers that the engine still has. */
  containersLeft: string[];
  /** The engine's events meanwhile; null if they were not watched or the engine was down. */
  containerHistory: ContainerHistory | null;
  foldersLeft: string[];
  configLeft: boolean;
  workflow: WorkflowState;
}

/** Facts that only the test can supply. */
interface RecordSources {
  transcripts?: Transcript[];
  posts?: ReceivedPost[];
  isWebhookRejected?: boolean;
  containers?: ContainerHistory;
  temporalAddress: string;
}

export async function collectRecords(
  service: Service,
  runId: string,
  sources: RecordSources,
): Promise<RunRecords> {
  const { pool } = service.database;
  const run = await createRunStore(pool, createSealer(service.encryptionKey)).find(runId);
  if (run === null) throw new Error(`there is no run ${runId}`);
  const { rows } = await pool.query<RecordRow>(recordQuery, [runId]);
  const [row] = rows;
  if (row === undefined) throw new Error(`the run ${runId} has no log`);
  const frames = 'select seq, event, data from frames where run_id = $1 order by seq';
  const attempts = `
    select delivery, attempt, status from webhook_attempts where run_id = $1
    order by delivery, attempt`;
  const { root, socket } = foldersOf(service.dataDir, run);
  const sandboxes = await service.sandboxes.list();
  return {
    run,
    ...row,
    causes: await causesOf(pool, runId),
    log: (await pool.query<LoggedFrame>(frames, [runId])).rows,
    attempts: (await pool.query<AttemptRow>(attempts, [runId])).rows,
    transcripts: sources.transcripts ?? [],
    posts: (sources.posts ?? []).filter(({ headers }) => headers['x-service-run-id'] === runId),
    isWebhookRejected: sources.isWebhookRejected ?? false,
    containersLeft: sandboxes.filter((one) => one.runId === runId).map((one) => one.containerId),
    containerHistory: sources.containers ?? null,
    foldersLeft: [root, socket].filter((path) => existsSync(path)),
    workflow: await workflowState(service.instance, run.workflowId, sources.temporalAddress),
  };
}

interface RecordRow {
  occupiesSlot: boolean;
  wantsWebhook: boolean;
  webhookBody: string | null;
  deliveryId: string | null;
  logHead: LogHead;
  configLeft: boolean;
}

const recordQuery = `
  select occupies_slot(r) as "occupiesSlot", r.callback_url is not null as "wantsWebhook",
         r.webhook_body as "webhookBody", r.webhook_delivery_id as "deliveryId",
         json_build_object(
           'lastSeq', l.last_seq, 'isFinal', l.is_final, 'leaseOwner', l.lease_owner
         ) as "logHead",
         exists (select from run_configs k where k.run_id = r.id) as "configLeft"
  from runs r join run_logs l on l.run_id = r.id
  where r.id = $1`;

async function workflowState(
  instance: string,
  workflowId: string,
  address: string,
): Promise<WorkflowState> {
  const temporal = createTemporal({ namespace: 'default', connection: { address }, instance });
  try {
    return await temporal.describe(workflowId);
  } finally {
    await temporal.close();
  }
}
