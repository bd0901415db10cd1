import type { Answers } from '../../client/runs/run.ts';
import type { RunFeed } from './run-feed.ts';

/** Answers a question of the run. The same answer can be sent again. */
export const answerOf =
  ({ http, runId }: RunFeed) =>
  async (interactionId: string, answers: Answers): Promise<void> => {
    const path = `/runs/${runId}/interactions/${interactionId}`;
    await http.data({ method: 'POST', path, json: { answers }, isRepeatable: true });
  };
