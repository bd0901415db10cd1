import { flowVersionLimits } from '../../../../core/flows/flow-version.ts';

/** The versions `v` of flows `f`. A version that is kept only for its definition is left out. */
export const keptVersions = `flow_versions v join flows f
  on f.id = v.flow_id and v.version > f.version - ${flowVersionLimits.kept}`;

/** Of a version of the flow `f`. A version without files needs none. */
export const areFilesKept = (version: string): string =>
  `(${version}.file_count = 0 or ${version}.files_version >= f.files_kept_from)`;
