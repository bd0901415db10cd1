import type { InitialResources } from '../config/initial-resources-config.ts';
import type { ChangeSource, Stores } from './deps.ts';
import { CliError } from './format-error.ts';
import type { Validators } from './validators.ts';

interface ResourceOrigin {
  source: ChangeSource;
  key: { name: string; createdBy: string };
}

export const fromSettings: ResourceOrigin = {
  source: 'settings',
  key: { name: 'INIT_API_KEY', createdBy: 'settings' },
};

/**
 * Creates the project, flow and key that are missing, and changes none that exists. Returns one
 * sentence for each that was created. Safe to repeat, also by two processes at once.
 */
export async function createInitialResources(
  stores: Stores,
  { projectId, flow, apiKey }: InitialResources,
  { validators, origin }: { validators: Validators; origin: ResourceOrigin },
): Promise<string[]> {
  const project = validators.newProject({ projectId });
  const fields = flow === null ? null : validators.newFlow(flow);
  if (fields !== null) validators.flowBudget(stores.modelPrices, fields);
  await stores.lockInitialResources();
  // First, so that a key of another project leaves nothing behind.
  const newKey =
    apiKey !== null && (await isNewKey(stores.keys, projectId, apiKey)) ? apiKey : null;
  const newFlow =
    fields !== null && !(await stores.flows.existsByName(projectId, fields.name)) ? fields : null;
  return stores.change(async (on) => {
    const created: string[] = [];
    if ((await on.createProject(project)) !== null)
      created.push(`Created the project ${projectId}.`);
    if (newFlow !== null) {
      const { flowId } = await on.createFlow({ ...newFlow, projectId });
      created.push(`Created the flow ${newFlow.name}: ${flowId}.`);
    }
    if (newKey !== null) {
      const { record } = await on.createKey({ projectId, ...origin.key, key: newKey });
      created.push(`Created the key ${record.keyId}.`);
    }
    return created;
  }, origin.source);
}

async function isNewKey(keys: Stores['keys'], projectId: string, apiKey: string): Promise<boolean> {
  const found = await keys.findByKey(apiKey);
  if (found === null) return true;
  if (found.projectId === projectId) return false;
  throw new CliError(
    `INIT_API_KEY is a key of the project ${found.projectId}, not of ${projectId}: set another key.`,
  );
}
