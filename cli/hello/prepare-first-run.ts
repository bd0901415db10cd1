import { signInLink } from '../../core/sign-in.ts';
import { createInitialResources } from '../create-initial-resources.ts';
import type { Stores } from '../deps.ts';
import { fetchReadiness } from '../doctor/checks/api.ts';
import { CliError } from '../format-error.ts';
import { listFlows } from '../list-flows.ts';
import type { Validators } from '../validators.ts';

/** The name of the project, the flow, the key and the run. */
export const helloName = 'hello';

export const helloPrompt =
  'Write hello.md: a short greeting to someone who runs an agent here for the first time.';

/** The resources of a first run, and a sign-in link. */
export interface FirstRunSetup {
  projectId: string;
  flowId: string;
  key: string;
  publicUrl: string;
  operator: string;
  signInLink: string;
  signInLinkExpiresAt: Date;
}

interface PreparedFirstRun extends FirstRunSetup {
  /** The URL of the API for this process. */
  apiUrl: string;
  /** One sentence for each resource that was missing. */
  created: string[];
}

/** Creates what the first run needs, and a sign-in link. Does nothing if the API is not ready. */
export async function prepareFirstRun(
  stores: Stores,
  validators: Validators,
): Promise<PreparedFirstRun> {
  const project = await stores.projects.find(helloName);
  if (project !== null && project.archivedAt !== null)
    throw new CliError(
      `The project ${helloName} is archived. To restore it: flowrun project restore ${helloName}`,
    );
  await requireReadyApi(stores.apiUrl);
  const key = await usableKey(stores);
  const created = await createInitialResources(
    stores,
    {
      projectId: helloName,
      flow: { name: helloName, prompt: helloPrompt },
      apiKey: key,
    },
    {
      validators,
      origin: { source: 'command_line', key: { name: helloName, createdBy: 'flowrun hello' } },
    },
  );
  const flow = (await listFlows(stores.flows, helloName)).find(({ name }) => name === helloName);
  if (flow === undefined) throw new CliError(`The flow ${helloName} was archived meanwhile.`);
  const { publicUrl, apiUrl, firstOperator } = stores;
  const { code, expiresAt } = await stores.change((on) => on.inviteOperator(firstOperator));
  return {
    projectId: helloName,
    flowId: flow.flowId,
    key,
    publicUrl,
    apiUrl,
    operator: firstOperator,
    signInLink: signInLink(publicUrl, code),
    signInLinkExpiresAt: expiresAt,
    created,
  };
}

async function requireReadyApi(apiUrl: string): Promise<void> {
  const { status, failed } = await fetchReadiness(apiUrl).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError(`The API does not respond at ${reason}\nStart the service, then retry.`);
  });
  if (status === 200) return;
  const why = failed.length > 0 ? failed.join(', ') : `HTTP ${status}`;
  throw new CliError(
    `The API at ${apiUrl} is not ready: ${why}.\nTo find the cause: flowrun doctor`,
  );
}

/** The same key each time, so that it can be shown again; another one if it was revoked. */
async function usableKey({ keys, deriveKey }: Stores): Promise<string> {
  for (let number = 1; ; number += 1) {
    const key = deriveKey(`flowrun hello ${number}`);
    const found = await keys.findByKey(key);
    if (found === null || found.state === 'active') return key;
  }
}
