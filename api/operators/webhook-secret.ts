import { z } from 'zod';
import { standardWebhookSecretOf } from '../../lib/standard-webhook-secret.ts';
import type { WebhookSecrets } from '../../systems/postgres/accounts/webhook-secret.ts';
import type { App } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { noQuery } from '../runs/run-schema.ts';
import { enveloped, errors } from '../schemas/envelope.ts';
import { recordChange } from './audit/record-change.ts';
import { config, loadProject, projectPath } from './load-resources.ts';
import { webhookSecrets } from './operator-records.ts';
import { projectParams } from './operator-schemas.ts';
import { logChange } from './settings.ts';

const plain = { params: projectParams, querystring: noQuery };

const readSecret = {
  ...plain,
  operationId: 'readWebhookSecret',
  summary: 'The secret that signs the webhooks of a project',
  response: { 200: enveloped(webhookSecrets), ...errors(400, 401, 403, 404, 429, 500, 503) },
};

const changed = { 200: enveloped(webhookSecrets), ...errors(400, 401, 403, 404, 429, 500, 503) };

const prepareNext = {
  ...plain,
  operationId: 'prepareNextWebhookSecret',
  summary: 'Begin a rotation: later attempts are also signed with a second secret',
  description: 'Safe to repeat: the next secret stays the same until the rotation ends.',
  response: changed,
};

const rotate = {
  ...plain,
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the webhook secret with the next one',
  description:
    'Without a next secret the response is 400, so the request is safe to repeat. With `immediately` it is not: each request creates a new secret, and no webhook is signed with an earlier one any more.',
  body: z.strictObject({
    immediately: z.boolean().optional().meta({
      description: 'A new secret replaces the current one and the next one at once.',
    }),
  }),
  response: changed,
};

const noNextSecret = () =>
  invalid(
    'The project has no next webhook secret. Create one with POST …/webhook-secret/next, or ' +
      'replace the current secret at once with the body {"immediately":true}.',
  );

/** A project's webhook secret and its rotation. */
export function webhookSecret(app: App, deps: ApiDeps): void {
  const { projects } = deps;
  const path = `${projectPath}/webhook-secret`;

  app.get(path, { config, schema: readSecret }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    return secretsView(await projects.ensureWebhookSecrets(projectId));
  });

  app.post(`${path}/next`, { config, schema: prepareNext }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    await recordChange(deps, request, (on) => on.prepareWebhookSecret(projectId));
    logChange(request, 'nextWebhookSecret');
    return secretsView(await projects.ensureWebhookSecrets(projectId));
  });

  app.post(`${path}/rotate`, { config, schema: rotate }, async (request) => {
    const { projectId } = await loadProject(deps, request.params);
    const immediately = request.body.immediately === true;
    const secret = await recordChange(deps, request, (on) =>
      on.rotateWebhookSecret(projectId, { immediately }),
    );
    if (secret === null) throw noNextSecret();
    logChange(request, 'webhookSecret');
    return secretsView({ secret, nextSecret: null });
  });
}

const secretsView = ({ secret, nextSecret }: WebhookSecrets) => ({
  data: {
    webhookSecret: secret,
    standardWebhookSecret: standardWebhookSecretOf(secret),
    nextWebhookSecret: nextSecret,
    nextStandardWebhookSecret: nextSecret && standardWebhookSecretOf(nextSecret),
  },
});
