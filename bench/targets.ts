import { agentLatency } from './chat/agent-latency.ts';
import { signalLatency } from './chat/signal-latency.ts';
import { turnEnd } from './chat/turn-end.ts';
import { pausedTurnLatency, turnLatency } from './chat/turn-latency.ts';
import { turnSteps } from './chat/turn-steps.ts';
import { coldStart } from './cold/cold-start.ts';
import { coldSteps } from './cold/cold-steps.ts';
import { counters } from './counters/counters.ts';
import { fanOut } from './fan-out/fan-out.ts';
import { latency } from './latency/latency.ts';
import type { Target } from './measure/scenario.ts';
import type { Survey } from './measure/survey.ts';
import { firehose } from './throughput/firehose.ts';
import { trigger } from './trigger/trigger.ts';

const turns = [turnLatency, pausedTurnLatency, agentLatency, signalLatency, turnEnd];

export const targets: readonly Target[] = [coldStart, ...turns, trigger, firehose, fanOut, latency];

export const surveys: readonly Survey[] = [coldSteps, turnSteps, counters];

/** All ids that the command accepts. */
export const knownIds: readonly string[] = [...targets, ...surveys].map(({ id }) => id);
