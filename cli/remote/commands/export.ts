import { Command } from 'commander';
import { note, write } from '../../print.ts';
import { flowService, projectOption } from '../operators/operator-connection.ts';

interface ExportOptions {
  project?: string;
  replace?: true;
  json?: true;
}

export function exportCommand(): Command {
  return new Command('export')
    .description('write the flows of a project to a folder, for flowrun apply')
    .argument('<folder>', 'an empty or new folder')
    .addOption(projectOption())
    .option('--replace', 'delete the flows that the folder has')
    .option('--json', 'print the paths as JSON')
    .addHelpText('after', help)
    .action(async (folder: string, { project, replace, json }: ExportOptions) => {
      const { exportFolder } = await import('../../flow-files/export-folder.ts');
      const service = await flowService(project);
      const paths = await exportFolder(service, { folder, replace: replace === true });
      if (json === true) return write(JSON.stringify(paths));
      note(`${paths.length} files written to ${folder}`);
    });
}

const help = `
The same flows have the same files, byte by byte. Secrets are written as names of environment
variables. Archived flows are left out. It needs an operator token.`;
