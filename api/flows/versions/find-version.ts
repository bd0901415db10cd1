import type { FullFlowVersion } from '../../../core/flows/flow-version.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';

/** Throws if the flow has no such version, or if it is no longer kept. */
export async function findVersion(
  { flowVersions }: Pick<ApiDeps, 'flowVersions'>,
  flowId: string,
  version: number,
): Promise<FullFlowVersion> {
  const found = await flowVersions.find(flowId, version);
  if (found === null) throw notFound('Version');
  return found;
}
