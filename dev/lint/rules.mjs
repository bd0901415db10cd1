/**
 * A workflow isolate is shared between its runs, so whatever changes at the top of a module is seen
 * by workflows of other projects. What a module keeps there must be constant.
 */
const noModuleState = {
  create(context) {
    const report = (node) =>
      context.report({ node, message: 'a module of workflows keeps no state: it would be shared' });
    return {
      VariableDeclaration(node) {
        if (!isTopLevel(node)) return;
        if (node.kind !== 'const') report(node);
        else if (node.declarations.some(({ init }) => isEmptyContainer(init))) report(node);
      },
      ClassBody(node) {
        for (const member of node.body) if (member.static && !member.readonly) report(member);
      },
    };
  },
};

function isTopLevel(node) {
  return node.parent.type === 'Program' || node.parent.type === 'ExportNamedDeclaration';
}

const containers = new Set(['Map', 'Set', 'WeakMap', 'WeakSet', 'Array', 'Object']);

/** What is made empty is made to be filled. */
function isEmptyContainer(init) {
  if (init?.type === 'NewExpression') {
    return containers.has(init.callee.name) && init.arguments.length === 0;
  }
  if (init?.type === 'ArrayExpression') return init.elements.length === 0;
  return init?.type === 'ObjectExpression' && init.properties.length === 0;
}

export default { meta: { name: 'flowrun' }, rules: { 'no-module-state': noModuleState } };
