import { Command } from 'commander';
import type { CliDeps } from '../deps.ts';
import { CliError } from '../format-error.ts';
import { printRecord } from '../print.ts';
import { showSchedule } from './show-schedule.ts';

export function scheduleCommand(deps: CliDeps): Command {
  return new Command('schedule')
    .description('manage the schedules of flows; `flowrun flow update --schedule` sets one')
    .addCommand(showSchedule(deps))
    .addCommand(setPaused(deps, { verb: 'pause', isPaused: true, description: pauseHelp }))
    .addCommand(setPaused(deps, { verb: 'resume', isPaused: false, description: resumeHelp }));
}

const pauseHelp = 'stop a schedule from starting runs until it is resumed';
const resumeHelp = 'resume a paused schedule; starts due during the pause are not run later';

function setPaused(
  { withStores, parseReference }: CliDeps,
  { verb, isPaused, description }: { verb: string; isPaused: boolean; description: string },
): Command {
  return new Command(verb)
    .description(description)
    .argument('<flow-id>', 'the ID of the flow', parseReference)
    .option('--json', 'print JSON')
    .action((flowId: string, options: { json?: true }) =>
      withStores(async ({ flows, change }) => {
        const flow = await flows.find(flowId);
        if (flow === null) throw new CliError(`No such flow: ${flowId}.`);
        if (flow.schedule === null) throw new CliError('The flow has no schedule.');
        await change((on) => on.setSchedulePaused(flow, isPaused));
        printRecord((await flows.find(flowId)) ?? flow, options);
      }),
    );
}
