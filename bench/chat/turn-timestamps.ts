/** The steps of a session's turn. Some overlap; the table sorts them by their times. */
export const turnTimestamps = [
  { name: 'committed', what: 'the message is committed' },
  { name: 'signalled', what: 'Temporal has the signal' },
  { name: 'answered', what: 'the client has received 202' },
  { name: 'taskStarted', what: 'a worker has the workflow task' },
  { name: 'activityScheduled', what: 'the workflow has scheduled the turn' },
  { name: 'activityStarted', what: "the sandbox's host has started the activity" },
  { name: 'claimed', what: 'the host has read the message from Postgres' },
  { name: 'unpaused', what: 'the sandbox has been resumed' },
  { name: 'handedOut', what: "the message has been sent to the agent's input" },
  { name: 'echoInSpool', what: 'the agent has read it (its echo is in the spool)' },
  { name: 'modelAsked', what: 'the model has received the request' },
  { name: 'modelAnswered', what: 'the model has answered' },
  { name: 'textInSpool', what: 'the first text is in the spool' },
  { name: 'textStored', what: 'the first text is in Postgres' },
  { name: 'textPublished', what: 'the first text is published in Redis' },
  { name: 'textAtReader', what: 'the reader has the first text' },
  { name: 'resultInSpool', what: 'the result is in the spool' },
  { name: 'endStored', what: 'the end of the turn is in Postgres' },
  { name: 'endAtReader', what: 'the reader has turn_end' },
] as const;

export type TurnTimestamp = (typeof turnTimestamps)[number]['name'];
