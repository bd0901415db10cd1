// breaks: nothing
export { flowPatch } from '../api/operators/flow-fields.ts';
