import { limits } from '../../../core/limits.ts';
import type { RunConfig } from '../../../core/runs/run-config.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { sessionEnded } from '../../errors.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { loadSession } from '../load-session.ts';
import { patchSessionConfig } from '../patch-session-config.ts';
import { configChanged, configPatch, sessionParams } from '../session-schema.ts';

const schema = {
  operationId: 'changeSessionConfig',
  summary: "Change a session's configuration, effective from its next turn",
  params: sessionParams,
  querystring: noQuery,
  body: configPatch,
  response: {
    200: enveloped(configChanged),
    ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503),
  },
};

/** The answer contains only names: values are never returned. */
export function changeSessionConfig(app: App, deps: ApiDeps): void {
  const url = '/api/v1/flows/:flowId/sessions/:sessionId/config';
  app.patch(
    url,
    { config: forKeys('chat'), schema, bodyLimit: limits.http.mediumBodyMaxBytes },
    async (request) => {
      const { params, body } = request;
      const { run } = await loadSession(deps, request, params.sessionId);
      if (run.endCause !== null) throw sessionEnded();
      const change = (known: RunConfig) => patchSessionConfig(known, body);
      const config = await deps.sessions.changeConfig(run.runId, change, authorOf(request));
      if (config === null) throw sessionEnded();
      request.log.info({ runId: run.runId }, 'session_config_changed');
      return {
        data: {
          sessionId: params.sessionId,
          effective: run.holdsSlot ? ('next_turn' as const) : ('now' as const),
          env: Object.keys(config.env),
          mcpServers: Object.keys(config.mcpServers),
          disallowedTools: config.disallowedTools,
          appendSystemPrompt: config.appendSystemPrompt !== null,
        },
      };
    },
  );
}
