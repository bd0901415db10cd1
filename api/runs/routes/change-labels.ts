import { z } from 'zod';
import { limits } from '../../../core/limits.ts';
import { type App, accessOf } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { invalid, notFound } from '../../errors.ts';
import { apiUrlOf } from '../../http/public-path.ts';
import { authorOf } from '../../operators/audit/record-change.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { labelChange } from '../../schemas/labels.ts';
import { loadRun } from '../load-run.ts';
import { noQuery, runParams, runRecord } from '../run-schema.ts';
import { runView } from '../run-view.ts';

const schema = {
  operationId: 'changeLabels',
  summary: 'Change the labels of a run, also after its end',
  params: runParams,
  querystring: noQuery,
  body: z.strictObject({ labels: labelChange }),
  response: { 200: enveloped(runRecord), ...errors(400, 401, 403, 404, 413, 415, 429, 500, 503) },
};

const config = forKeys('run', 'chat');

export function changeLabels(app: App, deps: ApiDeps): void {
  app.patch('/api/v1/runs/:runId/labels', { config, schema }, async (request) => {
    const { runId } = await loadRun(deps, request.params.runId, accessOf(request));
    const { labels } = request.body;
    const changed = await deps.runs.changeLabels(runId, labels, authorOf(request));
    switch (changed.outcome) {
      case 'changed':
        request.log.info({ runId: changed.run.runId }, 'labels_changed');
        return { data: runView(changed.run, apiUrlOf(request, deps)) };
      case 'too-many':
        throw invalid(`body.labels: the run would have more than ${limits.label.maxCount} labels`);
      case 'gone':
        throw notFound('Run');
    }
  });
}
