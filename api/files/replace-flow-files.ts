import type { FastifyReply, FastifyRequest } from 'fastify';
import { ignoreName } from '../../core/files/file-entry.ts';
import type { FlowOutline } from '../../core/flows/flow.ts';
import { callerName } from '../app-types.ts';
import type { ApiDeps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { authorOf } from '../operators/audit/record-change.ts';
import { checkStorage } from './check-storage.ts';
import { labelOf, storeContents } from './classify-files.ts';
import { fileView } from './file-view.ts';
import { changeError, requiredTags, setTag } from './flow-file-set.ts';
import { matchIgnored } from './flow-ignore.ts';
import type { DecodedFile } from './input-files.ts';

interface Replacement {
  flow: FlowOutline;
  request: FastifyRequest;
  reply: FastifyReply;
  files: DecodedFile[];
}

/** Replaces all files of the flow with these. */
export async function replaceFlowFiles(
  deps: ApiDeps,
  { flow: { flowId, projectId }, request, reply, files }: Replacement,
) {
  checkNoneIgnored(files);
  if (files.length > 0) await checkStorage(deps, projectId);
  const tags = requiredTags(request);
  // The tag is compared again under a lock. Contents stored for nothing would count for hours.
  if (!(await deps.flowFiles.hasTag(flowId, tags))) throw changeError('mismatch');
  await storeContents(deps, projectId, files);
  const by = { author: authorOf(request), changedBy: callerName(request) };
  const change = await deps.flowFiles.replace(flowId, files, { tags, ...by });
  if (change.outcome !== 'changed') throw changeError(change.outcome);
  setTag(reply, change.tag);
  request.log.info({ flowId, files: files.length }, 'flow_files_replaced');
  return { data: change.files.map(fileView) };
}

/** Files that the set's own `.flowignore` matches belong to runs, never to the flow. */
function checkNoneIgnored(files: DecodedFile[]): void {
  const rules = files.find(({ path }) => path === ignoreName)?.content.toString() ?? '';
  const paths = files.map(({ path }) => path);
  const [ignored] = matchIgnored(rules, paths);
  if (ignored === undefined) return;
  const label = labelOf(files, ignored);
  throw invalid(`${label}: matches the .flowignore of this request, so the flow cannot have it`);
}
