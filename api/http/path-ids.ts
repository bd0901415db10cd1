import { isInteractionId } from '../../core/agent/interaction.ts';
import type { App } from '../app-types.ts';
import { notFound } from '../errors.ts';

/** An id that is none names nothing: that is said before the body is looked at. */
export function checkPathIds(app: App): void {
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.skipsIdCheck === true) return;
    for (const [name, value] of Object.entries(request.params as Record<string, string>)) {
      const what = kinds[name];
      if (what !== undefined && !uuidPattern.test(value)) throw notFound(what);
      if (name === 'interactionId' && !isInteractionId(value)) throw notFound('Interaction');
    }
  });
}

/** The parameters that hold a UUID, and what each names. */
const kinds: Record<string, string> = { runId: 'Run', flowId: 'Flow', keyId: 'Key' };

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
