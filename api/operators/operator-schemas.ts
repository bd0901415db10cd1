import { z } from 'zod';
import { modelBaseUrlRule, modelKeyRule, projectIdRule } from '../../core/field-rules.ts';
import { keyScopeRule, keyScopesMax } from '../../core/keys/key-scopes.ts';
import { limits } from '../../core/limits.ts';
import { monthlyBudget } from '../schemas/monthly-budget.ts';
import { isoTimestamp, matching, name, uuidLike } from '../schemas/text.ts';

const runCount = () => z.int().min(0).max(limits.project.runsMax);
const sessionCount = () => z.int().min(0).max(limits.project.sessionsMax);
const storageQuota = () => z.int().min(0).max(limits.project.storageMaxBytes);

export const projectParams = z.object({ projectId: z.string() });
export const keyParams = projectParams.extend({ keyId: uuidLike() });
export const flowOfProjectParams = projectParams.extend({ flowId: uuidLike() });
export const runOfProjectParams = projectParams.extend({ runId: uuidLike() });

const bounds = {
  maxConcurrentRuns: runCount().optional(),
  maxOpenSessions: sessionCount().optional(),
  monthlyRunQuota: runCount().nullable().optional(),
  monthlyBudgetUsd: monthlyBudget('Maximum cost of the model calls in a month (UTC).'),
  storageQuotaBytes: storageQuota().nullable().optional(),
};

export const newProject = z.strictObject({
  projectId: matching(projectIdRule),
  name: name().optional(),
  ...bounds,
});

/** The key and the URL come together: a key is never sent to a URL that it was not set for. */
const projectModel = z.strictObject({
  apiKey: matching(modelKeyRule),
  baseUrl: matching(modelBaseUrlRule).refine((url) => URL.canParse(url), {
    error: 'must be a valid URL',
  }),
});

export const settingsPatch = z.strictObject({
  name: name().optional(),
  ...bounds,
  model: projectModel.nullable().optional(),
});

const keyBudget = monthlyBudget(
  'Maximum cost of the model calls of the runs and sessions that the key has started, in a month (UTC).',
);

export const newKey = z.strictObject({
  name: name(),
  rateLimitRpm: z.int().min(1).max(limits.key.ratePerMinuteMax).optional(),
  expiresAt: isoTimestamp().optional(),
  scopes: z.array(matching(keyScopeRule)).min(1).max(keyScopesMax).optional().meta({
    description:
      '`read`, `run` and `chat` permit only these actions, `flow:<id>` only this flow. If an endpoint accepts `run` and `chat`, a plain run needs `run` and a session `chat`. Default: no limit.',
  }),
  monthlyBudgetUsd: keyBudget,
});

export const keyPatch = z.strictObject({ monthlyBudgetUsd: keyBudget });
