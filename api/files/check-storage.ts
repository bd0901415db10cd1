import type { ApiDeps } from '../deps.ts';
import { postgresDiskShort, storageQuotaUsedUp } from '../runs/admission-error.ts';

/** Throws if no contents can be stored for the project now. */
export async function checkStorage(
  { postgresDisk, projects }: Pick<ApiDeps, 'postgresDisk' | 'projects'>,
  projectId: string,
): Promise<void> {
  if (postgresDisk.isShort()) throw postgresDiskShort();
  const quota = await projects.usedUpQuota({ projectId });
  if (quota !== null) throw storageQuotaUsedUp(quota);
}
