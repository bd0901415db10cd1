import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { queryNumber } from '../schemas/text.ts';
import { config, loadProject, loadProjectKey, projectPath } from './load-resources.ts';
import { keyUsageRecord, projectUsage } from './operator-records.ts';
import { keyParams, projectParams } from './operator-schemas.ts';

const querystring = z.strictObject({
  days: queryNumber({ min: 1, max: limits.key.usageDays }).optional(),
});

const ofProject = {
  operationId: 'readUsage',
  summary: 'The use of the limits of a project, and its calls by day',
  params: projectParams,
  querystring,
  response: { 200: enveloped(projectUsage), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const ofKey = {
  operationId: 'readKeyUsage',
  summary: 'The calls with an API key by day',
  params: keyParams,
  querystring,
  response: { 200: enveloped(keyUsageRecord), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

/** Calls by day, oldest first. New calls are included after a few seconds. */
export function usage(app: App, deps: ApiDeps): void {
  const { keyUsage, projects } = deps;

  app.get(`${projectPath}/usage`, { config, schema: ofProject }, async (request) => {
    const project = await loadProject(deps, request.params);
    const { projectId, maxConcurrentRuns, maxOpenSessions, monthlyRunQuota } = project;
    const { storageQuotaBytes, monthlyBudgetUsd } = project;
    const [bounds, storedBytes, days] = await Promise.all([
      keyUsage.bounds(projectId),
      projects.storedBytes(projectId),
      keyUsage.ofProject(projectId, request.query.days ?? limits.key.usageDays),
    ]);
    const runLimits = { maxConcurrentRuns, maxOpenSessions, monthlyRunQuota };
    const projectLimits = { ...runLimits, monthlyBudgetUsd, storageQuotaBytes };
    return { data: { ...bounds, ...projectLimits, storedBytes, days } };
  });

  app.get(`${projectPath}/keys/:keyId/usage`, { config, schema: ofKey }, async (request) => {
    const { keyId } = await loadProjectKey(deps, request.params);
    return {
      data: {
        keyId,
        days: await keyUsage.ofKey(keyId, request.query.days ?? limits.key.usageDays),
      },
    };
  });
}
