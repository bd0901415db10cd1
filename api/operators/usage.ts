import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { queryNumber } from '../schemas/text.ts';
import { config, loadProject, loadProjectKey, projectPath } from './load-resources.ts';
import { keyParams, projectParams } from './operator-schemas.ts';

const querystring = z.strictObject({
  days: queryNumber({ min: 1, max: limits.key.usageDays }).optional(),
});

/** Calls by day, oldest first. New calls are included after a few seconds. */
export function usage(app: App, deps: ApiDeps): void {
  const { keyUsage, projects } = deps;

  const ofProject = { hide: true, querystring, params: projectParams };
  app.get(`${projectPath}/usage`, { config, schema: ofProject }, async (request) => {
    const project = await loadProject(deps, request.params);
    const { projectId, maxConcurrentRuns, maxOpenSessions, monthlyRunQuota } = project;
    const { storageQuotaBytes } = project;
    const [bounds, storedBytes, days] = await Promise.all([
      keyUsage.bounds(projectId),
      projects.storedBytes(projectId),
      keyUsage.ofProject(projectId, request.query.days ?? limits.key.usageDays),
    ]);
    const runLimits = { maxConcurrentRuns, maxOpenSessions, monthlyRunQuota };
    const projectLimits = { ...runLimits, storageQuotaBytes };
    return { data: { ...bounds, ...projectLimits, storedBytes, days } };
  });

  const ofKey = { hide: true, querystring, params: keyParams };
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
