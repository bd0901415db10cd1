/** The steps of a cold run, in chronological order. */
export const steps = [
  { name: 'received', what: 'the API has received the request' },
  { name: 'admitted', what: 'the run is committed' },
  { name: 'workflowStarted', what: 'Temporal has accepted the workflow' },
  { name: 'taskStarted', what: 'a worker has the first workflow task' },
  { name: 'activityScheduled', what: 'the workflow has scheduled the sandbox' },
  { name: 'activityStarted', what: 'the host has received that activity' },
  { name: 'preparing', what: "the activity's body has started" },
  { name: 'ready', what: 'plan read, folders made, socket open, lease taken' },
  { name: 'created', what: 'the engine has created the container' },
  { name: 'started', what: 'the engine reports that the container runs' },
  { name: 'configFetched', what: 'the entry program has the configuration' },
  { name: 'configAcknowledged', what: 'the host has deleted the configuration' },
  { name: 'messageHandedOut', what: 'the prompt has been sent to the agent' },
  { name: 'initInSpool', what: "the agent's first init line is in the spool" },
  { name: 'textInSpool', what: 'the first text is in the spool' },
  { name: 'textStored', what: 'the first text is in Postgres' },
  { name: 'textOnStream', what: 'the reader has the first text' },
] as const;

export type StepName = (typeof steps)[number]['name'];
