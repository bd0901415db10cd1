import { runProgram } from '../run-program.ts';
import { createRemoteProgram } from './remote-program.ts';

declare const flowrunVersion: string; // replaced by the bundler

void runProgram(createRemoteProgram(flowrunVersion), process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
