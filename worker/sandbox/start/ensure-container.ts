import { failpoint } from '../../../core/failpoint.ts';
import type { SandboxDeps } from '../deps.ts';
import type { Attachment } from './attach.ts';

/** Creates the container, or finds the one that a previous attempt has created. */
export async function ensureContainer(
  { sandboxes, hostId, image, now }: SandboxDeps,
  { ref, plan, folders, logger }: Attachment,
): Promise<string> {
  const { run, flow } = plan;
  const { workspace, spool, config, socket } = folders;
  const { containerId, adopted } = await sandboxes.ensureCreated({
    ...ref,
    projectId: run.projectId,
    image: flow.image ?? image,
    hostId,
    folders: { workspace, spool, config, socket },
    memoryBytes: flow.resources.memoryBytes,
    cpus: flow.resources.cpus,
    deadline: new Date(now().getTime() + run.timeoutSeconds * 1_000),
  });
  logger.info({ containerId, adopted }, 'sandbox_created');
  failpoint('start.created');
  return containerId;
}
