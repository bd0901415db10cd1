import { setCurrentDetails } from '@temporalio/workflow';
import type { EndCause } from '../core/end-cause.ts';

/** What an operator reads on the workflow's page, kept up to date from step to step. */
export interface Situation {
  phase: string;
  host: string | null;
  container: string | null;
  cause: EndCause | null;
}

export type Teller = (change: Partial<Situation>) => void;

/** Nothing but ids and words of ours may be told: the page is readable by every operator. */
export function tellOperators(): Teller {
  const situation: Situation = { phase: 'starting', host: null, container: null, cause: null };
  return (change) => {
    Object.assign(situation, change);
    setCurrentDetails(asMarkdown(situation));
  };
}

const asMarkdown = ({ phase, host, container, cause }: Situation): string =>
  [
    `**Phase** ${phase}`,
    `**Host** ${host ?? 'none yet'}`,
    `**Container** ${container === null ? 'none yet' : `\`${container}\``}`,
    `**Cause** ${cause ?? 'still going on'}`,
  ].join('  \n');
