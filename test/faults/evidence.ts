// Collects the traces of a run in every component for the checker.

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

interface CursorRow {
  lastSeq: number;
  closed: boolean;
  leaseOwner: string | null;
}

interface AttemptRow {
  delivery: number;
  attempt: number;
  status: number | null;
}

/** The traces of one run after its end. */
export interface Evidence {
  run: Run;
  occupiesSlot: boolean;
  /** Every cause that was ever recorded for the run, in order. */
  causes: EndCause[];
  /** Whether its end has a webhook. */
  wantsWebhook: boolean;
  webhookBody: string | null;
  deliveryId: string | null;
  cursor: CursorRow;
  log: LoggedFrame[];
  transcripts: Transcript[];
  /** The reason that a reader of the stream receives at the end. */
  reason?: FinishedReason;
  posts: ReceivedPost[];
  /** The receiver rejects every attempt. */
  isRefused: boolean;
  attempts: AttemptRow[];
  /** Ids of containers that the engine still has. */
  containersLeft: string[];
  /** The engine's events meanwhile; null if they were not watched or the engine was down. */
  containerHistory: ContainerHistory | null;
  foldersLeft: string[];
  configLeft: boolean;
  workflow: WorkflowState;
}

/** Facts that only the test knows. */
interface Witnesses {
  transcripts?: Transcript[];
  posts?: ReceivedPost[];
  isRefused?: boolean;
  containers?: ContainerHistory;
  temporalAddress: string;
}

export async function gatherEvidence(
  service: Service,
  runId: string,
  witnesses: Witnesses,
): Promise<Evidence> {
  const { pool } = service.database;
  const run = await createRunStore(pool, createSealer(service.encryptionKey)).find(runId);
  if (run === null) throw new Error(`there is no run ${runId}`);
  const { rows: kept } = await pool.query<KeptRow>(keptColumns, [runId]);
  const [row] = kept;
  if (row === undefined) throw new Error(`the run ${runId} has no cursor`);
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
    transcripts: witnesses.transcripts ?? [],
    posts: (witnesses.posts ?? []).filter(({ headers }) => headers['x-service-run-id'] === runId),
    isRefused: witnesses.isRefused ?? false,
    containersLeft: sandboxes.filter((one) => one.runId === runId).map((one) => one.containerId),
    containerHistory: witnesses.containers ?? null,
    foldersLeft: [root, socket].filter((path) => existsSync(path)),
    workflow: await workflowState(service.instance, run.workflowId, witnesses.temporalAddress),
  };
}

interface KeptRow {
  occupiesSlot: boolean;
  wantsWebhook: boolean;
  webhookBody: string | null;
  deliveryId: string | null;
  cursor: CursorRow;
  configLeft: boolean;
}

const keptColumns = `
  select occupies_slot(r) as "occupiesSlot", r.callback_url is not null as "wantsWebhook",
         r.webhook_body as "webhookBody", r.webhook_delivery_id as "deliveryId",
         json_build_object(
           'lastSeq', l.last_seq, 'closed', l.is_final, 'leaseOwner', l.lease_owner
         ) as cursor,
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
