import type { DockerError } from '../../../systems/docker/docker-error.ts';

/** A sandbox that could not be started. Trying again may help, unless `permanent`. */
export class SandboxStartError extends Error {
  readonly permanent: boolean;
  /** For the run's owner: nothing of this machine, and nothing that another system has worded. */
  readonly detail: string;

  constructor(detail: string, { permanent, cause }: { permanent: boolean; cause?: unknown }) {
    super(detail, { cause });
    this.name = 'SandboxStartError';
    this.permanent = permanent;
    this.detail = detail;
  }
}

/** What another attempt would meet again is permanent: no such image, a refused specification. */
export function startErrorOf(error: unknown): SandboxStartError {
  if (error instanceof SandboxStartError) return error;
  if (!isDockerError(error)) {
    return new SandboxStartError('the host could not start it', { permanent: false, cause: error });
  }
  switch (error.code) {
    case 'image_missing':
      return new SandboxStartError('no such image', { permanent: true, cause: error });
    case 'runtime_missing':
      return new SandboxStartError(
        'the host does not have the runtime that sandboxes are to run on',
        {
          permanent: true,
          cause: error,
        },
      );
    case 'runtime_unusable':
      return new SandboxStartError('what sandboxes are to run on does not work on the host', {
        permanent: true,
        cause: error,
      });
    case 'foreign_container':
      return new SandboxStartError('its name is taken', { permanent: true, cause: error });
    case 'refused': {
      const permanent = error.status === 400 || error.status === 404;
      return new SandboxStartError('the engine refused it', { permanent, cause: error });
    }
    case 'container_missing':
      return new SandboxStartError('it was removed', { permanent: false, cause: error });
    case 'engine_unreachable':
    case 'engine_timeout':
      return new SandboxStartError('the engine is away', { permanent: false, cause: error });
  }
}

/** By name: the class itself belongs to a system that is known here by its types only. */
function isDockerError(error: unknown): error is DockerError {
  return error instanceof Error && error.name === 'DockerError';
}
