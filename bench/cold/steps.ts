/** The moments of a cold run, in the order in which they come. */
export const steps = [
  { name: 'received', what: 'the API has the request' },
  { name: 'admitted', what: 'the run is committed' },
  { name: 'workflowStarted', what: 'Temporal has taken the workflow' },
  { name: 'taskStarted', what: 'a worker has the first workflow task' },
  { name: 'activityScheduled', what: 'the workflow has asked for the sandbox' },
  { name: 'activityStarted', what: 'the host has that activity' },
  { name: 'preparing', what: 'its body runs' },
  { name: 'ready', what: 'plan read, folders made, socket open, lease taken' },
  { name: 'created', what: 'the engine has made the container' },
  { name: 'started', what: 'the engine says that it runs' },
  { name: 'configFetched', what: 'the entry program has the configuration' },
  { name: 'configAcknowledged', what: 'and it is deleted here' },
  { name: 'messageHandedOut', what: 'the prompt is on its way to the agent' },
  { name: 'initInSpool', what: "the agent's first init line is in the spool" },
  { name: 'textInSpool', what: 'its first text is in the spool' },
  { name: 'textStored', what: 'and in Postgres' },
  { name: 'textOnStream', what: 'and with the reader' },
] as const;

export type StepName = (typeof steps)[number]['name'];
