import { z } from 'zod';
import {
  differencesOf,
  type FlowVersion,
  flowVersionLimits,
} from '../../../core/flows/flow-version.ts';
import type { App } from '../../app-types.ts';
import { forKeys } from '../../auth/callers.ts';
import type { ApiDeps } from '../../deps.ts';
import { changeView } from '../../files/file-view.ts';
import { flowOf } from '../../runs/load-run.ts';
import { flowParams, noQuery } from '../../runs/run-schema.ts';
import { enveloped, errors } from '../../schemas/envelope.ts';
import { findVersion } from './find-version.ts';
import {
  diffQuery,
  fullVersion,
  versionDiff,
  versionParams,
  versionRecord,
} from './version-schema.ts';

const path = '/api/v1/flows/:flowId/versions';
const config = forKeys('read');
const failures = errors(400, 401, 403, 404, 429, 500, 503);

const list = {
  operationId: 'listFlowVersions',
  summary: `The latest ${flowVersionLimits.kept} versions of a flow, latest first`,
  params: flowParams,
  querystring: noQuery,
  response: { 200: enveloped(z.array(versionRecord)), ...failures },
};

const read = {
  operationId: 'readFlowVersion',
  summary: 'A version of a flow, with its definition',
  params: versionParams,
  querystring: noQuery,
  response: { 200: enveloped(fullVersion), ...failures },
};

const diff = {
  operationId: 'diffFlowVersions',
  summary: 'The fields and files in which two versions of a flow differ',
  params: versionParams,
  querystring: diffQuery,
  response: { 200: enveloped(versionDiff), ...failures },
};

/** Each change of a flow makes a version. Versions have no values of secrets. */
export function readVersions(app: App, deps: Pick<ApiDeps, 'flowVersions'>): void {
  const { flowVersions } = deps;
  app.get(path, { config, schema: list }, async (request) => {
    const { flowId } = flowOf(request);
    return { data: (await flowVersions.list(flowId)).map(versionView) };
  });

  app.get(`${path}/:version`, { config, schema: read }, async (request) => {
    const { flowId } = flowOf(request);
    const { version } = request.params;
    const { definition, files, ...record } = await findVersion(deps, flowId, version);
    return { data: { ...versionView(record), definition, files } };
  });

  app.get(`${path}/:version/diff`, { config, schema: diff }, async (request) => {
    const { flowId } = flowOf(request);
    const { version: to } = request.params;
    const { from = to - 1 } = request.query;
    const after = await findVersion(deps, flowId, to);
    const before = await findVersion(deps, flowId, from);
    const secrets = await flowVersions.changedSecrets(flowId, [from, to]);
    const files = await flowVersions.compareFiles(flowId, [from, to]);
    return {
      data: {
        ...{ from, to, fields: differencesOf(before, after) },
        fileChanges: files?.changes.map(changeView) ?? null,
        fileChangeCount: files?.count ?? null,
        changedSecrets: secrets,
      },
    };
  });
}

const versionView = ({ changedAt, ...version }: FlowVersion) => ({
  ...version,
  changedAt: changedAt.toISOString(),
});
