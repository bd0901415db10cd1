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
  const { detail, permanent } = isDockerError(error) ? engineFailure(error) : hostFailure;
  return new SandboxStartError(detail, { permanent, cause: error });
}

interface Failure {
  detail: string;
  permanent: boolean;
}

const hostFailure: Failure = { detail: 'the host could not start the sandbox', permanent: false };

function engineFailure({ code, status }: DockerError): Failure {
  switch (code) {
    case 'image_missing':
      return { detail: 'no such image', permanent: true };
    case 'runtime_missing':
      return {
        detail: 'the configured container runtime is not installed on this host',
        permanent: true,
      };
    case 'runtime_unusable':
      return {
        detail: 'the configured container runtime does not work on this host',
        permanent: true,
      };
    case 'foreign_container':
      return { detail: 'the container name is taken', permanent: true };
    case 'rejected':
      return {
        detail: 'the engine rejected the container',
        permanent: status === 400 || status === 404,
      };
    case 'container_missing':
      return { detail: 'the container was removed', permanent: false };
    case 'engine_unreachable':
    case 'engine_timeout':
      return { detail: 'the engine is unavailable', permanent: false };
  }
}

/** Checked by name, because only the types of that system are imported here. */
function isDockerError(error: unknown): error is DockerError {
  return error instanceof Error && error.name === 'DockerError';
}
