import { apiKeyRule, hasAtMost, projectIdRule } from '../core/field-rules.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { limits } from '../core/limits.ts';
import { ConfigError } from './config-error.ts';
import { deepFreeze, type Environment, readVariables, variable } from './environment.ts';
import { matching } from './variable-types.ts';

/** What the command `migrate` creates if it is missing, so that no command needs to follow. */
export const initialResourceVariables = {
  INIT_PROJECT: matching(projectIdRule.expected, projectIdRule.pattern)
    .optional()
    .describe('The ID of a project.'),
  INIT_FLOW: variable('a JSON object with a "name"', readFlow)
    .optional()
    .describe(
      'A flow of that project: the fields of [`flow create --config`](cli.md) as JSON, with a name. Created unless the project has a flow with this name.',
    ),
  INIT_API_KEY: matching(apiKeyRule.expected, apiKeyRule.pattern)
    .optional()
    .describe(
      'An API key of that project; [how to generate one](operate.md#creating-the-first-project-automatically). Created unless it exists: a revoked key stays revoked, and a key of another project is an error.',
    ),
};

export interface InitialResources {
  projectId: string;
  flow: (JsonObject & { name: string }) | null;
  apiKey: string | null;
}

/** From the environment alone, not from the local stack. Null if no project is named. */
export function readInitialResources(
  env: Environment = process.env,
): Readonly<InitialResources> | null {
  const read = readVariables(env, initialResourceVariables);
  const { INIT_PROJECT: projectId, INIT_FLOW: flow = null, INIT_API_KEY: apiKey = null } = read;
  if (projectId !== undefined) return deepFreeze({ projectId, flow, apiKey });
  if (flow === null && apiKey === null) return null;
  throw new ConfigError('INIT_PROJECT is not set: INIT_FLOW and INIT_API_KEY need it');
}

function readFlow(text: string): (JsonObject & { name: string }) | null {
  const value = parseJson(text);
  if (!isObject(value) || !isName(value['name'])) return null;
  return { ...value, name: value['name'] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && hasAtMost(limits.text.nameMaxChars, value);
