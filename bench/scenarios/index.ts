import type { Scenario } from '../measure/scenario.ts';
import { burst } from './burst.ts';
import { coldStart } from './cold-start.ts';
import { delivery } from './delivery.ts';
import { fanOut } from './fan-out.ts';
import { firehose } from './firehose.ts';
import { idle } from './idle.ts';
import { peers } from './peers.ts';
import { recovery } from './recovery.ts';
import { tenMessages } from './ten-messages.ts';
import { trigger } from './trigger.ts';
import { turn } from './turn.ts';
import { wake } from './wake.ts';
import { webhook } from './webhook.ts';

/** In the order of measurement. */
export const scenarios: readonly Scenario[] = [
  coldStart,
  turn,
  delivery,
  trigger,
  fanOut,
  firehose,
  tenMessages,
  burst,
  wake,
  idle,
  webhook,
  recovery,
  ...peers,
];
