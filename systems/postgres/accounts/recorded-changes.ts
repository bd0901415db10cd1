// The changes that both the API and the command line make, each with its entry in the audit log.
// An entry names fields as clients do, and has no values.

import { type AuditActor, changedFields } from '../../../core/audit/audit-entry.ts';
import type { HostChanges } from '../hosts/host-store.ts';
import type { KeyRecord } from './key-row.ts';
import type { KeyPatch, KeyStore, NewKey } from './key-store.ts';
import type { OperatorStore } from './operator-store.ts';
import type { NewOperatorToken, OperatorTokenStore } from './operator-token-store.ts';
import type { NewProject, Project, ProjectPatch, ProjectStore } from './project-store.ts';
import type { NewAuditEntry } from './record-entry.ts';
import type { BudgetHolder } from './report-budgets.ts';

/** The stores of one transaction, and the function that records its changes for one actor. */
interface On {
  projects: ProjectStore;
  keys: KeyStore;
  operators: OperatorStore;
  operatorTokens: OperatorTokenStore;
  hosts: HostChanges;
  reportBudgets: (holder: BudgetHolder) => Promise<void>;
  record: (entry: Omit<NewAuditEntry, keyof AuditActor>) => Promise<void>;
}

export const recordedChanges = (on: On) => ({
  /** Null if the ID is taken. */
  createProject: (fields: NewProject) => createProject(on, fields),
  /** Null if there is no such project. */
  changeSettings: (projectId: string, patch: ProjectPatch) => changeSettings(on, projectId, patch),
  /** False if nothing changes. */
  setProjectArchived: (projectId: string, isArchived: boolean) =>
    setProjectArchived(on, projectId, isArchived),
  createKey: (fields: NewKey) => createKey(on, fields),
  /** Null if there is no such key. */
  changeKey: (keyId: string, patch: KeyPatch) => changeKey(on, keyId, patch),
  /** A further call changes and records nothing. */
  revokeKey: (key: { projectId: string; keyId: string }) => revokeKey(on, key),
  /** Null if there is no such operator. */
  createOperatorToken: (fields: NewOperatorToken) => createOperatorToken(on, fields),
  /** False if there is no such token. */
  revokeOperatorToken: (tokenId: string) => revokeOperatorToken(on, tokenId),
  /** A further call before the rotation ends records nothing. */
  prepareWebhookSecret: (projectId: string) => prepareWebhookSecret(on, projectId),
  /** Returns the current secret afterwards; null if there is no next one to rotate to. */
  rotateWebhookSecret: (projectId: string, options: { immediately: boolean }) =>
    rotateWebhookSecret(on, projectId, options),
  inviteOperator: (name: string) => inviteOperator(on, name),
  /** Null if there is or was an operator. */
  inviteFirstOperator: (name: string) => inviteFirstOperator(on, name),
  /** False if there is no such operator. */
  removeOperator: (name: string) => removeOperator(on, name),
  /** False if there is no such host. */
  setDraining: (hostId: string, draining: boolean) => setDraining(on, hostId, draining),
});

async function createProject(on: On, fields: NewProject): Promise<Project | null> {
  const created = await on.projects.create(fields);
  const { projectId } = fields;
  const object = { projectId, objectId: projectId, ...changedFields({}, { ...fields }) };
  if (created !== null) await on.record({ action: 'project_created', ...object });
  return created;
}

async function changeSettings(
  on: On,
  projectId: string,
  patch: ProjectPatch,
): Promise<Project | null> {
  const before = await on.projects.findLocked(projectId);
  if (before === null) return null;
  const model = await on.projects.readModel(projectId);
  const changed = changedFields({ ...before, model }, patch);
  await on.record({ action: 'settings_changed', projectId, objectId: projectId, ...changed });
  const updated = await on.projects.update(projectId, patch);
  if (patch.monthlyBudgetUsd !== undefined) await on.reportBudgets({ projectId });
  return updated;
}

async function setProjectArchived(on: On, projectId: string, isArchived: boolean) {
  if (!(await on.projects.archive(projectId, isArchived))) return false;
  const action = isArchived ? 'project_archived' : 'project_restored';
  await on.record({ action, projectId, objectId: projectId, ...noFields });
  return true;
}

async function createKey(on: On, { projectId, createdBy, key, ...fields }: NewKey) {
  const own = { projectId, createdBy, ...(key === undefined ? {} : { key }) };
  const created = await on.keys.create({ ...fields, ...own });
  const object = { projectId, objectId: created.record.keyId, ...changedFields({}, fields) };
  await on.record({ action: 'key_created', ...object });
  return created;
}

async function changeKey(on: On, keyId: string, patch: KeyPatch): Promise<KeyRecord | null> {
  const before = await on.keys.findLocked(keyId);
  if (before === null) return null;
  const object = { projectId: before.projectId, objectId: keyId };
  await on.record({
    action: 'key_changed',
    ...object,
    ...changedFields({ ...before }, { ...patch }),
  });
  const updated = await on.keys.update(keyId, patch);
  const { projectId } = before;
  if (patch.monthlyBudgetUsd !== undefined) await on.reportBudgets({ projectId, keyId });
  return updated;
}

async function revokeKey(
  on: On,
  { projectId, keyId }: { projectId: string; keyId: string },
): Promise<void> {
  const fields = { fieldsBefore: [], fieldsAfter: ['revokedAt'] };
  if (await on.keys.revokeFirst(keyId))
    await on.record({ action: 'key_revoked', projectId, objectId: keyId, ...fields });
}

async function createOperatorToken(on: On, fields: NewOperatorToken) {
  const created = await on.operatorTokens.create(fields);
  if (created === null) return null;
  const { operator: _operator, ...given } = fields;
  const object = { projectId: null, objectId: created.record.tokenId };
  await on.record({ action: 'token_created', ...object, ...changedFields({}, given) });
  return created;
}

async function revokeOperatorToken(on: On, tokenId: string): Promise<boolean> {
  if (!(await on.operatorTokens.revoke(tokenId))) return false;
  await on.record({ action: 'token_revoked', projectId: null, objectId: tokenId, ...noFields });
  return true;
}

async function prepareWebhookSecret(on: On, projectId: string): Promise<void> {
  await on.projects.findLocked(projectId);
  const { nextSecret } = await on.projects.ensureWebhookSecrets(projectId);
  await on.projects.prepareNextWebhookSecret(projectId);
  if (nextSecret !== null) return;
  const fields = { fieldsBefore: [], fieldsAfter: ['nextWebhookSecret'] };
  const object = { projectId, objectId: projectId, ...fields };
  await on.record({ action: 'webhook_secret_prepared', ...object });
}

async function rotateWebhookSecret(
  on: On,
  projectId: string,
  { immediately }: { immediately: boolean },
): Promise<string | null> {
  const secret = immediately
    ? await on.projects.replaceWebhookSecret(projectId)
    : await on.projects.rotateWebhookSecret(projectId);
  const action = immediately ? 'webhook_secret_replaced' : 'webhook_secret_rotated';
  const fields = { fieldsBefore: ['webhookSecret'], fieldsAfter: ['webhookSecret'] };
  if (secret !== null) await on.record({ action, projectId, objectId: projectId, ...fields });
  return secret;
}

async function inviteOperator(on: On, name: string) {
  const invited = await on.operators.invite(name);
  await recordInvitation(on, invited.operator);
  return invited;
}

async function inviteFirstOperator(on: On, name: string) {
  const invited = await on.operators.inviteFirst(name);
  if (invited !== null) await recordInvitation(on, invited.operator);
  return invited;
}

function recordInvitation(on: On, { operatorId }: { operatorId: string }): Promise<void> {
  const object = { projectId: null, objectId: operatorId, ...noFields };
  return on.record({ action: 'operator_invited', ...object });
}

async function removeOperator(on: On, name: string): Promise<boolean> {
  const operatorId = await on.operators.remove(name);
  if (operatorId === null) return false;
  const object = { projectId: null, objectId: operatorId, ...noFields };
  await on.record({ action: 'operator_removed', ...object });
  return true;
}

async function setDraining(on: On, hostId: string, draining: boolean): Promise<boolean> {
  if (!(await on.hosts.setDraining(hostId, draining))) return false;
  const action = draining ? 'host_drained' : 'host_undrained';
  await on.record({ action, projectId: null, objectId: hostId, ...noFields });
  return true;
}

const noFields = { fieldsBefore: [], fieldsAfter: [] };
