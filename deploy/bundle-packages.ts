import { buildPackages } from './packages/build-packages.ts';

await buildPackages();
