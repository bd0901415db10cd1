import { agentHalf } from './chat/agent-half.ts';
import { signalHalf } from './chat/signal-half.ts';
import { turnEnd } from './chat/turn-end.ts';
import { turnSteps } from './chat/turn-steps.ts';
import { wholePausedTurn, wholeTurn } from './chat/whole-turn.ts';
import { coldStart } from './cold/cold-start.ts';
import { coldSteps } from './cold/cold-steps.ts';
import { counters } from './counters/counters.ts';
import { fanOut } from './fan-out/fan-out.ts';
import { firehose } from './firehose/firehose.ts';
import { latency } from './latency/latency.ts';
import type { Target } from './measure/scenario.ts';
import type { Survey } from './measure/survey.ts';
import { trigger } from './trigger/trigger.ts';

const turns = [wholeTurn, wholePausedTurn, agentHalf, signalHalf, turnEnd];

export const targets: readonly Target[] = [coldStart, ...turns, trigger, firehose, fanOut, latency];

export const surveys: readonly Survey[] = [coldSteps, turnSteps, counters];

/** What the command can be asked for. */
export const knownIds: readonly string[] = [...targets, ...surveys].map(({ id }) => id);
