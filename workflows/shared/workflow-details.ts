import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { EndCause } from '../../core/runs/end-cause.ts';
import { linkTo, type Memo } from '../../core/temporal/workflow-memo.ts';

/** What an operator reads on the workflow's page, kept up to date from step to step. */
export interface WorkflowDetails {
  phase: string;
  host: string | null;
  container: string | null;
  cause: EndCause | null;
}

export type ReportDetails = (change: Partial<WorkflowDetails>) => void;

/** Nothing but ids and words of ours may be told: the page is readable by every operator. */
export function createDetailsReporter(known: Partial<WorkflowDetails> = {}): ReportDetails {
  const nothing: WorkflowDetails = { phase: 'starting', host: null, container: null, cause: null };
  const situation = { ...nothing, ...known };
  return (change) => {
    Object.assign(situation, change);
    const { prompt, page }: Partial<Memo> = workflowInfo().memo ?? {};
    const about = prompt === undefined ? [] : [`**Prompt** ${prompt}`];
    const link = page === undefined ? [] : [linkTo(page)];
    setCurrentDetails([...about, ...linesOf(situation), ...link].join('  \n'));
  };
}

const linesOf = ({ phase, host, container, cause }: WorkflowDetails): string[] => [
  `**Phase** ${phase}`,
  `**Host** ${host ?? 'none yet'}`,
  `**Container** ${container === null ? 'none yet' : `\`${container}\``}`,
  `**Cause** ${cause ?? 'still going on'}`,
];
