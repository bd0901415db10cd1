// The changes of flows that both the API and the command line make, each with its entry in the
// audit log.

import { type AuditActor, changedFields } from '../../../../core/audit/audit-entry.ts';
import type { Flow } from '../../../../core/flows/flow.ts';
import type { FlowFileChanges } from '../../files/version-files.ts';
import type { FlowChanges, FlowDecision, FlowFields, NewFlow } from '../flow-store.ts';
import type { NewAuditEntry } from '../record-entry.ts';
import type { BudgetHolder } from '../report-budgets.ts';

/** The stores of one transaction, and the function that records its changes for one actor. */
interface On {
  flows: FlowChanges;
  flowFiles: FlowFileChanges;
  reportBudgets: (holder: BudgetHolder) => Promise<void>;
  /** The name of the actor. */
  by: string;
  record: (entry: Omit<NewAuditEntry, keyof AuditActor>) => Promise<void>;
}

type FlowId = Pick<Flow, 'projectId' | 'flowId'>;

interface VersionRestore {
  version: number;
  /** If false, the files stay as they are. */
  restoresFiles: boolean;
  decide: FlowDecision;
}

type RestoredVersion =
  | { outcome: 'restored'; flow: Flow }
  /** There is no such flow, or no such version. */
  | { outcome: 'missing' }
  | { outcome: 'files_not_kept' };

export const recordedFlowChanges = (on: On) => ({
  createFlow: (fields: NewFlow) => createFlow(on, fields),
  /** Null if there is no such flow. */
  changeFlow: (flowId: string, decide: FlowDecision) => changeFlow(on, { flowId, decide }),
  /** One new version, with the files of a version and the fields that `decide` returns. */
  restoreVersion: (flowId: string, restore: VersionRestore) => restoreVersion(on, flowId, restore),
  /** False if nothing changes. */
  setArchived: (flow: FlowId, isArchived: boolean) => setArchived(on, flow, isArchived),
  /** False if nothing changes, also without a schedule. */
  setSchedulePaused: (flow: FlowId, isPaused: boolean) => setSchedulePaused(on, flow, isPaused),
});

async function createFlow(on: On, { projectId, ...fields }: NewFlow): Promise<Flow> {
  const created = await on.flows.create({ ...fields, projectId, changedBy: on.by });
  const changed = changedFields({}, namedFields(fields));
  await on.record({ action: 'flow_created', projectId, objectId: created.flowId, ...changed });
  return created;
}

interface Change {
  flowId: string;
  decide: FlowDecision;
  /** The numbers of files, if they have changed in this transaction. */
  files?: { before: number; after: number };
}

async function changeFlow(on: On, { flowId, decide, files }: Change): Promise<Flow | null> {
  let changed = changedFields({}, {});
  let changesBudget = false;
  const recorded: FlowDecision = (before) => {
    const fields = decide(before);
    const fieldsBefore = namedFields({ ...before.flow, secrets: before.secrets });
    changed = changedFields(fieldsBefore, namedFields(fields));
    changesBudget = fields.monthlyBudgetUsd !== undefined;
    return fields;
  };
  const after = await on.flows.change(flowId, { decide: recorded, changedBy: on.by });
  if (after === null) return null;
  const { projectId } = after;
  const fields = {
    fieldsBefore: withFiles(changed.fieldsBefore, files?.before),
    fieldsAfter: withFiles(changed.fieldsAfter, files?.after),
  };
  await on.record({ action: 'flow_changed', projectId, objectId: flowId, ...fields });
  if (changesBudget) await on.reportBudgets({ projectId, flowId });
  return after;
}

const withFiles = (fields: string[], count = 0): string[] =>
  count > 0 ? [...fields, 'files'].sort() : fields;

async function restoreVersion(
  on: On,
  flowId: string,
  { version, restoresFiles, decide }: VersionRestore,
): Promise<RestoredVersion> {
  const change: Change = { flowId, decide };
  if (restoresFiles) {
    const restored = await on.flowFiles.restore(flowId, version);
    if (restored.outcome !== 'restored') return restored;
    if (restored.isChanged) change.files = restored;
  }
  const flow = await changeFlow(on, change);
  return flow === null ? { outcome: 'missing' } : { outcome: 'restored', flow };
}

async function setArchived(on: On, { projectId, flowId }: FlowId, isArchived: boolean) {
  if (!(await on.flows.archive(flowId, isArchived))) return false;
  const action = isArchived ? 'flow_archived' : 'flow_restored';
  await on.record({ action, projectId, objectId: flowId, ...noFields });
  return true;
}

async function setSchedulePaused(on: On, { projectId, flowId }: FlowId, isPaused: boolean) {
  if (!(await on.flows.pauseSchedule(flowId, isPaused))) return false;
  const action = isPaused ? 'schedule_paused' : 'schedule_resumed';
  await on.record({ action, projectId, objectId: flowId, ...noFields });
  return true;
}

function namedFields({ secrets, ...fields }: Partial<FlowFields>): Record<string, unknown> {
  return { ...fields, ...secrets };
}

const noFields = { fieldsBefore: [], fieldsAfter: [] };
