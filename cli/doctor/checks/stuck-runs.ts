import type { Run } from '../../../core/runs/run.ts';
import { type Check, checked, counted, type Problem } from '../types.ts';

/** Longer than a worker takes to see to it. */
const unstartedMs = 15_000;
const endingMs = 60_000;

export const runs: Check = {
  name: 'runs',
  needs: ['schema'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'runs_unreadable',
    what: 'The runs cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look({ reconcile, mends }) {
    const unstarted = await reconcile.unstarted(unstartedMs);
    const ending = await reconcile.causesWithoutEnd(endingMs);
    const troubles: Problem[] = [];
    if (unstarted.length > 0) {
      troubles.push({
        code: 'run_not_started',
        what: `${counted(unstarted.length, 'run')} admitted without a workflow: ${named(unstarted)}.`,
        advice: 'A worker starts them within seconds: see its log for reconcile_run_failed.',
        mend: mends.startUnstarted,
      });
    }
    if (ending.length > 0) {
      troubles.push({
        code: 'run_not_ending',
        what: `${counted(ending.length, 'run')} told to end more than a minute ago: ${named(ending)}.`,
        advice: 'See the log of its host’s worker, and the workflow in Temporal’s UI.',
        mend: mends.nudgeEndings,
      });
    }
    return checked([], ...troubles);
  },
};

export const named = (found: Pick<Run, 'runId'>[]): string =>
  theFirst(found.map(({ runId }) => runId));

const namedMost = 5;

export function theFirst(ids: string[]): string {
  const more = ids.length > namedMost ? ' …' : '';
  return ids.slice(0, namedMost).join(', ') + more;
}

const untoldMs = 15_000;

export const messages: Check = {
  name: 'messages',
  needs: ['schema'],
  mendNeeds: ['workers'],
  ifItFails: {
    code: 'messages_unreadable',
    what: 'The messages cannot be read',
    advice: 'See what Postgres logs about it.',
  },
  async look(parts) {
    const untold = await parts.messages.unsignalled(untoldMs);
    if (untold.length === 0) return checked([]);
    const sessions = untold.map(({ run }) => run);
    return checked([], {
      code: 'message_not_told',
      what: `${counted(untold.length, 'session')} with messages that their workflows have not been told of: ${named(sessions)}.`,
      advice: 'A worker tells them within seconds: see its log for reconcile_message_failed.',
      mend: parts.mends.signalMessages,
    });
  },
};
