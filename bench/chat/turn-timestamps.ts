/**
 * The moments of a session's turn. Some come side by side: the table has them in the order of its
 * figures.
 */
export const turnTimestamps = [
  { name: 'committed', what: 'the message is committed' },
  { name: 'signalled', what: 'Temporal has the signal' },
  { name: 'answered', what: 'the client has its 202' },
  { name: 'taskStarted', what: 'a worker has the workflow task' },
  { name: 'activityScheduled', what: 'the workflow has asked for the turn' },
  { name: 'activityStarted', what: "the sandbox's host has that activity" },
  { name: 'claimed', what: 'and has the message from Postgres' },
  { name: 'unpaused', what: 'the sandbox runs again' },
  { name: 'handedOut', what: "the message is on its way to the agent's input" },
  { name: 'echoInSpool', what: 'the agent has read it: its echo is in the spool' },
  { name: 'modelAsked', what: 'the model is asked' },
  { name: 'modelAnswered', what: 'and has answered' },
  { name: 'textInSpool', what: 'the first text is in the spool' },
  { name: 'textStored', what: 'and in Postgres' },
  { name: 'textPublished', what: 'and published in Redis' },
  { name: 'textAtReader', what: 'and with the reader' },
  { name: 'resultInSpool', what: 'the result is in the spool' },
  { name: 'endStored', what: 'the end of the turn is in Postgres' },
  { name: 'endAtReader', what: 'turn_end is with the reader' },
] as const;

export type TurnTimestamp = (typeof turnTimestamps)[number]['name'];
