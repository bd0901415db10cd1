import type { Run } from '../../../core/runs/run.ts';
import { type Check, checked, counted, type Problem } from '../types.ts';

/** Longer than a worker needs to handle it. */
const unstartedMs = 15_000;
const endingMs = 60_000;

export const runsCheck: Check = {
  name: 'runs',
  needs: ['schema'],
  fixNeeds: ['workers'],
  onError: {
    code: 'runs_unreadable',
    message: 'The runs cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run({ reconcile, fixes }) {
    const unstarted = await reconcile.unstarted(unstartedMs);
    const ending = await reconcile.unfinishedStops(endingMs);
    const problems: Problem[] = [];
    if (unstarted.length > 0) {
      problems.push({
        code: 'run_not_started',
        message: `${counted(unstarted.length, 'run')} admitted without a workflow: ${named(unstarted)}.`,
        advice: 'A worker starts them within seconds: check its log for reconcile_run_failed.',
        fix: fixes.startUnstarted,
      });
    }
    if (ending.length > 0) {
      problems.push({
        code: 'run_not_ending',
        message: `${counted(ending.length, 'run')} with a stop request older than a minute: ${named(ending)}.`,
        advice: 'Check the log of the host’s worker, and the workflow in the Temporal UI.',
        fix: fixes.resendStops,
      });
    }
    return checked([], ...problems);
  },
};

export const named = (found: Pick<Run, 'runId'>[]): string =>
  theFirst(found.map(({ runId }) => runId));

const namedMost = 5;

export function theFirst(ids: string[]): string {
  const more = ids.length > namedMost ? ' …' : '';
  return ids.slice(0, namedMost).join(', ') + more;
}

const unsignalledMs = 15_000;

export const messagesCheck: Check = {
  name: 'messages',
  needs: ['schema'],
  fixNeeds: ['workers'],
  onError: {
    code: 'messages_unreadable',
    message: 'The messages cannot be read',
    advice: 'Check the log of Postgres.',
  },
  async run(context) {
    const unsignalled = await context.messages.unsignalled(unsignalledMs);
    if (unsignalled.length === 0) return checked([]);
    const sessions = unsignalled.map(({ run }) => run);
    return checked([], {
      code: 'message_not_signalled',
      message: `${counted(unsignalled.length, 'session')} with messages that their workflows have not received: ${named(sessions)}.`,
      advice: 'A worker signals them within seconds: check its log for reconcile_message_failed.',
      fix: context.fixes.signalMessages,
    });
  },
};
