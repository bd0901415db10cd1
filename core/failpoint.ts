// Points between two steps at which tests kill a process, to show that it can die anywhere. Named
// `<module>.<event>`. Only a main arms one, by a variable that operators do not set.

export const failpoints = [
  'trigger.received',
  'trigger.admitted',
  'trigger.started',
  'trigger.marked',
  'slot.claimed',
  'stop_request.recorded',
  'stop_request.signalled',
  'delete.marked',
  'delete.signalled',
  'chat.stored',
  'chat.signalled',
  'chat.marked',
  'files.written',
  'wake.assigned',

  'start.planned',
  'start.listening',
  'start.leased',
  'start.seeded',
  'start.created',
  'start.opened',
  'start.running',
  'start.marked',
  'start.logged',
  'start.published',
  'config.read',
  'config.acknowledged',
  'prompt.delivered',

  'log.committing',
  'log.committed',
  'log.published',

  'sleep.asked',

  'turn.claimed',
  'turn.sent',
  'turn.ending',
  'turn.ended',

  'cause.recorded',
  'stop.interrupted',
  'stop.closed',
  'stop.terminated',
  'stop.killed',

  'end.exited',
  'end.read',
  'end.recorded',
  'workspace.stored',
  'workspace.listed',
  'end.written',
  'end.committed',
  'end.notified',
  'remove.container',
  'remove.folders',
  'remove.socket',

  'webhook.claimed',
  'webhook.sent',
  'webhook.recorded',
  'webhook.dropped',

  'reconcile.started',
  'reconcile.ended',
  'reconcile.notified',
] as const;

export type Failpoint = (typeof failpoints)[number];

let armed: { name: Failpoint; reached: () => void } | null = null;

export function armFailpoint(name: Failpoint, reached: () => void): void {
  armed = { name, reached };
}

export function failpoint(name: Failpoint): void {
  if (armed?.name === name) armed.reached();
}
