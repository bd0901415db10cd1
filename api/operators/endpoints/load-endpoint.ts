import type { Endpoint } from '../../../systems/postgres/endpoints/endpoint-store.ts';
import type { ApiDeps } from '../../deps.ts';
import { notFound } from '../../errors.ts';

interface OfProject {
  projectId: string;
  endpointId: string;
}

/** An endpoint of another project counts as missing, and so does a removed one. */
export async function loadEndpoint(
  { endpoints }: Pick<ApiDeps, 'endpoints'>,
  { projectId, endpointId }: OfProject,
): Promise<Endpoint> {
  const endpoint = await endpoints.find(endpointId);
  if (endpoint?.projectId !== projectId) throw notFound('Endpoint');
  return endpoint;
}

/** An event of another endpoint counts as missing. */
export async function loadEvent(
  deps: Pick<ApiDeps, 'endpoints' | 'events'>,
  params: OfProject & { eventId: string },
) {
  const { endpointId } = await loadEndpoint(deps, params);
  const event = await deps.events.find(params.eventId);
  if (event?.endpointId !== endpointId) throw notFound('Event');
  return event;
}
