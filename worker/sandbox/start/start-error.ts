import type { DockerError } from '../../../systems/docker/docker-error.ts';

/** A sandbox could not be started. A retry may help unless it is `permanent`. */
export class SandboxStartError extends Error {
  readonly permanent: boolean;
  /** Shown to the run's owner. Contains no details of the host and no other system's messages. */
  readonly detail: string;

  constructor(detail: string, { permanent, cause }: { permanent: boolean; cause?: unknown }) {
    super(detail, { cause });
    this.name = 'SandboxStartError';
    this.permanent = permanent;
    this.detail = detail;
  }
}

/** Permanent if a retry would fail again: a missing image, a rejected specification. */
export function startErrorOf(error: unknown): SandboxStartError {
  if (error instanceof SandboxStartError) return error;
  if (!isDockerError(error)) {
    return new SandboxStartError('the host could not start the sandbox', {
      permanent: false,
      cause: error,
    });
  }
  switch (error.code) {
    case 'image_missing':
      return new SandboxStartError('no such image', { permanent: true, cause: error });
    case 'runtime_missing':
      return new SandboxStartError(
        'the configured container runtime is not installed on this host',
        {
          permanent: true,
          cause: error,
        },
      );
    case 'runtime_unusable':
      return new SandboxStartError('the configured container runtime does not work on this host', {
        permanent: true,
        cause: error,
      });
    case 'foreign_container':
      return new SandboxStartError('the container name is taken', {
        permanent: true,
        cause: error,
      });
    case 'rejected': {
      const permanent = error.status === 400 || error.status === 404;
      return new SandboxStartError('the engine rejected the container', {
        permanent,
        cause: error,
      });
    }
    case 'container_missing':
      return new SandboxStartError('the container was removed', { permanent: false, cause: error });
    case 'engine_unreachable':
    case 'engine_timeout':
      return new SandboxStartError('the engine is unavailable', { permanent: false, cause: error });
  }
}

/** Checked by name, because only the types of that system are imported here. */
function isDockerError(error: unknown): error is DockerError {
  return error instanceof Error && error.name === 'DockerError';
}
